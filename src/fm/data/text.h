/* libsvm and libffm text to rows. docs/FORMATS.md says what is accepted and what becomes
 * of the odd cases. A block holds the rows of one slice and owns its arrays;
 * ls_block_done frees them. ls_text_parse: any thread. ls_text_read makes threads of its
 * own and calls the sink on one at a time, in file order. */
#ifndef LS_FM_DATA_TEXT_H
#define LS_FM_DATA_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fm/data/rows.h"
#include "fm/data/source.h"

enum ls_text_format { LS_TEXT_UNKNOWN, LS_TEXT_SVM, LS_TEXT_FFM };

struct ls_text_place {
	uint64_t line, column; /* from 1; line within the slice, column in bytes */
};

struct ls_block {
	uint64_t n_rows, n_entries, n_lines;
	uint64_t unlabelled; /* rows without a label: none or all */
	bool first_unlabelled;
	uint32_t max_feature;       /* of the entries, if any */
	uint16_t max_field;         /* likewise */
	enum ls_text_format format; /* LS_TEXT_UNKNOWN as long as there are no entries */
	/* n_rows + 1 offsets into the entries of this block */
	uint64_t *start;
	uint32_t *feature;
	uint16_t *field;               /* LS_TEXT_FFM only */
	float *value, *label, *weight; /* value, weight: NULL when all are 1 */
	/* rows and lines of the slice, until the reader hands the block on: then of the
	 * text */
	struct ls_row_run *run;
	size_t n_runs;
};

struct ls_text_fault {
	struct ls_text_place at;
	char msg[256];
	uint64_t rows; /* of the slice, before the fault */
	bool first_unlabelled;
	struct ls_text_place first;
};

#define LS_TEXT_MIXED "some rows have a label and some have none"

/* "svm" or "ffm"; LS_TEXT_UNKNOWN for NULL. */
enum ls_text_format ls_text_format_named(const char *name);
/* The format of the first entry in the slice, or LS_TEXT_UNKNOWN when it has none. */
enum ls_text_format ls_text_detect(const struct ls_slice *slice);
/* Returns 0, LS_EINPUT with *fault filled, or LS_ENOMEM. The slice must end as ls_source
 * makes it. */
int ls_text_parse(const struct ls_slice *slice, enum ls_text_format format, struct ls_block *ret,
		  struct ls_text_fault *fault);
void ls_block_done(struct ls_block *b);
/* Where its first row is; line 0: there is none. */
struct ls_text_place ls_block_first(const struct ls_block *b);

/* Takes the block's arrays over if it wants them (and then clears *b). Nonzero stops the
 * reading. */
typedef int ls_text_sink(void *ctx, struct ls_block *b, struct ls_err *err);

/* Reads to the end with that many threads. The first fault in file order is reported,
 * whatever the thread count. */
int ls_text_read(struct ls_source *s, enum ls_text_format format, int threads, ls_text_sink *sink,
		 void *ctx, struct ls_err *err);

#endif
