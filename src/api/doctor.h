/* An examination of this machine from doctor's options, for the command and the public
 * function. ls_examination_done frees. One thread. */
#ifndef LS_API_DOCTOR_H
#define LS_API_DOCTOR_H

#include <time.h>

#include "base/opt.h"
#include "env/facts/advice.h"
#include "env/facts/gpu_catalog.h"
#include "env/rules/report.h"
#include "env/spec/spec.h"
#include "gpu/kernels.h"

/* What a host says beside the options. */
struct ls_examine_how {
	const char *const *environment; /* "NAME=value", NULL-terminated: what is judged */
	const char *root;               /* what stands for /, or NULL */
	const struct ls_kernels_conf *kernels;
	struct tm now; /* UTC */
};

struct ls_examination {
	struct ls_spec *spec; /* or NULL */
	struct ls_facts *facts;
	struct ls_findings *findings;
	struct ls_gpu_catalog *catalog;
	struct ls_advice *advice;
	char created[32];
	struct ls_report report; /* borrows from the others */
};

int ls_examine(const struct ls_args *args, const struct ls_examine_how *how,
	       struct ls_examination *ret, struct ls_err *err);
void ls_examination_done(struct ls_examination *e);

/* Where GPU code comes from, as the fact "gpu_code". */
void ls_gpu_code_fact(struct ls_facts *facts, const struct ls_kernels_conf *conf);

/* What spec check says of a spec, by a name or a file. */
struct ls_spec_answer {
	struct ls_spec *spec;
	struct ls_compat *compat;
	struct ls_advice *advice;
	json_t *tested, *json; /* what was tried; the whole answer */
	struct ls_spec_findings *findings;
};

int ls_spec_answer(const char *spec, const char *today, struct ls_spec_answer *ret,
		   struct ls_err *err);
void ls_spec_answer_done(struct ls_spec_answer *a);
/* The rows of data/tested.json for a spec, as a list. New reference. */
json_t *ls_spec_tested(const struct ls_advice *advice, const char *spec);

#endif
