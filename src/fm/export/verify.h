/* An exported file in ONNX Runtime, run by a Python that has it: rows of our own choice,
 * and what their scores must be. The caller frees a sample (ls_sample_free accepts NULL).
 * One thread. */
#ifndef LS_FM_EXPORT_VERIFY_H
#define LS_FM_EXPORT_VERIFY_H

#include <stdbool.h>

#include "base/err.h"
#include "fm/data/rows.h"
#include "fm/export/params.h"

struct ls_sample {
	struct ls_rows rows; /* points to the arrays below */
	uint64_t *start;
	uint32_t *feature;
	uint16_t *field;
	float *value;
	float *score; /* rows × outputs; the caller's to fill */
};

/* Rows of any length up to 24, some entries unknown to the model. */
struct ls_sample *ls_sample_new(const struct ls_fm_model *m);
void ls_sample_free(struct ls_sample *s);

/* Scores by their definition, for the exact form. */
void ls_sample_score_exact(struct ls_sample *s, const struct ls_params *p);

struct ls_verdict {
	bool ran;         /* false: the Python has no ONNX Runtime */
	char runtime[64]; /* its version */
	char why[256];    /* that it did not run */
	uint64_t rows;
	double largest; /* difference of a score, as a share of 1 + |score| */
};

/* Largest difference that a file may have; of an exact one it is 0. */
#define LS_EXPORT_TOLERANCE 1e-6

/* scratch: a file that may be overwritten. LS_EDIFFER: it runs and gives other scores, or
 * does not run. */
int ls_export_verify(const struct ls_params *p, const char *file, const char *python,
		     const struct ls_sample *s, const char *scratch, struct ls_verdict *ret,
		     struct ls_err *err);

#endif
