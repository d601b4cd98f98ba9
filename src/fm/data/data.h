/* Files to rows: libsvm and libffm text, plain or gzip, scipy CSR .npz, and .lsd, told
 * apart by their first bytes. A struct ls_data owns everything its rows point to, or the
 * mapping they lie in; ls_data_free frees it. Loading makes threads of its own; what was
 * loaded is read-only and may be read by any thread. */
#ifndef LS_FM_DATA_DATA_H
#define LS_FM_DATA_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "fm/data/columns.h"
#include "fm/data/rows.h"

struct ls_data_opts {
	/* 0: as many as there are CPUs; never changes the result */
	int threads;
	/* "svm", "ffm", "npz", "lsd"; NULL: found out from the content */
	const char *format;
	/* .npy with a label a row, for data that have none (.npz never has); or NULL */
	const char *labels_path;
	/* .npy with a weight a row, for data that have none; or NULL */
	const char *weights_path;
	/* text is a table in CSV, and this says how it becomes rows; or NULL. Where it is to
	 * learn from the table, it is changed */
	struct ls_columns *columns;
	bool need_labels; /* data without labels are refused */
	bool want_fields; /* data without fields are refused */
	/* 0: the usual; text is cut into slices of about this size, one a task */
	size_t slice_bytes;
};

struct ls_data;
struct ls_source;

/* path "-" is standard input, which may hold text, gzip or not. o may be NULL. */
int ls_data_load(const char *path, const struct ls_data_opts *o, struct ls_data **ret,
		 struct ls_err *err);
/* The same from memory, which must outlive the result; messages call it `name`. .npz is
 * not read from memory. */
int ls_data_load_memory(const char *name, const void *bytes, size_t len,
			const struct ls_data_opts *o, struct ls_data **ret, struct ls_err *err);
/* The same from a source, which belongs to the result, or is freed on failure. */
int ls_data_load_take(struct ls_source *s, const struct ls_data_opts *o, struct ls_data **ret,
		      struct ls_err *err);
/* From rows that are checked already. The n blocks (at most 8) are freed with the result;
 * what the rows borrow from others must outlive it. */
void ls_data_of_rows_take(const char *name, const struct ls_rows *rows, void *const *blocks,
			  size_t n, int threads, struct ls_data **ret);
void ls_data_free(struct ls_data *d);

const struct ls_rows *ls_data_rows(const struct ls_data *d);

/* Fails if somebody has written to a file in which the rows lie; from then on every time.
 * One thread. */
int ls_data_unchanged(struct ls_data *d, struct ls_err *err);

/* SHA-256 over the rows themselves, whatever form they came in: docs/FORMATS.md, "The
 * data digest". */
void ls_data_digest(const struct ls_data *d, char ret_hex[65]);
void ls_rows_digest(const struct ls_rows *rows, int threads, char ret_hex[65]);

/* Writes the data at path as .lsd to the path to; text of any length with memory that
 * does not grow with it. */
int ls_data_convert(const char *path, const struct ls_data_opts *o, const char *to,
		    struct ls_err *err);

/* --- shared by loading and converting --- */

/* Whether the source may be read, and has the wanted format. */
int ls_data_check_format(const struct ls_source *s, const struct ls_data_opts *o,
			 struct ls_err *err);
/* The vectors that o names, NULL where it names none; labels, weights: whether the data
 * have their own. */
int ls_data_vectors(const char *name, uint64_t n_rows, bool labels, bool weights,
		    const struct ls_data_opts *o, float **ret_label, float **ret_weight,
		    struct ls_err *err);
/* Whether data with or without labels and fields will do. */
int ls_data_check_needs(const char *name, bool labels, bool fields, const struct ls_data_opts *o,
			struct ls_err *err);

#endif
