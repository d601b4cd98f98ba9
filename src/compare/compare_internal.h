/* What the files of the comparison share: adding items, the bundle comparison, the text
 * formats. Items belong to the file they were added to. Internal; one thread unless said
 * otherwise. */
#ifndef LS_COMPARE_COMPARE_INTERNAL_H
#define LS_COMPARE_COMPARE_INTERNAL_H

#include "compare/compare.h"

/* Texts of values are cut at this length for people. */
enum { LS_TEXT_SHOWN = 120 };

/* What two tensors' elements differ in; a and b have the same dtype and shape. */
struct ls_pair {
	const struct ls_tensor *a, *b;
	const struct ls_limits *limits; /* of the tolerance; NULL for none */
	struct ls_stats stats;          /* filled */
};

/* Fills the statistics of n pairs, on threads. Fails when compressed data turns out to be
 * damaged.
 */
int ls_pairs_run(struct ls_pair *pairs, size_t n, const struct ls_cmp_options *opt,
		 const char *file, struct ls_err *err);

/* Whether two files have the same bytes; stops at the first difference. */
bool ls_pairs_same_bytes(const struct ls_map *a, const struct ls_map *b,
			 const struct ls_cmp_options *opt, const char *file);

struct ls_cmp_item *ls_cmp_add(struct ls_cmp_file *f, enum ls_cmp_kind kind,
			       enum ls_cmp_status status, const char *name);
void ls_cmp_set_stats(struct ls_cmp_item *item, const struct ls_stats *stats); /* copies them */
void ls_cmp_items_done(struct ls_cmp_file *f);
void ls_cmp_file_done(struct ls_cmp_file *f);
/* The tolerance for a name; NULL for none. */
const struct ls_limits *ls_cmp_limits(const struct ls_cmp_options *opt, const char *name);
bool ls_cmp_ignored(const struct ls_cmp_options *opt, const char *name);
/* Compares sealed bundles into f. */
int ls_cmp_bundles(const struct ls_bundle *a, const struct ls_bundle *b,
		   const struct ls_cmp_options *opt, struct ls_cmp_file *f, struct ls_err *err);
int ls_cmp_csv(const struct ls_map *a, const struct ls_map *b, char separator,
	       const struct ls_cmp_options *opt, struct ls_cmp_file *f, struct ls_err *err);
int ls_cmp_jsonl(const struct ls_map *a, const struct ls_map *b, const struct ls_cmp_options *opt,
		 struct ls_cmp_file *f, struct ls_err *err);
int ls_cmp_bytes(const struct ls_map *a, const struct ls_map *b, const struct ls_cmp_options *opt,
		 struct ls_cmp_file *f, struct ls_err *err);
int ls_cmp_json(const struct ls_map *a, const struct ls_map *b, const struct ls_cmp_options *opt,
		struct ls_cmp_file *f, struct ls_err *err);
int ls_cmp_yaml(const struct ls_map *a, const struct ls_map *b, const struct ls_cmp_options *opt,
		struct ls_cmp_file *f, struct ls_err *err);
int ls_cmp_notebooks(const struct ls_map *a, const struct ls_map *b,
		     const struct ls_cmp_options *opt, struct ls_cmp_file *f, struct ls_err *err);
/* Whether an archive is Keras 3's, and its contents. */
struct ls_zip;
bool ls_keras_is(const struct ls_zip *zip);
/* The JSON in the attributes of an HDF5 file that Keras wrote, as values. */
void ls_keras_expand(struct ls_bundle *b);
int ls_keras_open(const char *path, struct ls_bundle **ret, struct ls_err *err);
/* Counts what is in a bundle, for a file that equals the other byte for byte. */
void ls_cmp_count(const struct ls_bundle *b, const struct ls_cmp_options *opt,
		  struct ls_cmp_file *f);
bool ls_value_equal(const struct ls_value *a, const struct ls_value *b);
char *ls_value_text(const struct ls_value *v); /* for people; caller frees */
/* Tells apart what differs only because two runs made it: marks items of f, and takes
 * them out of its counts. */
void ls_cmp_own(const struct ls_own *own, const struct ls_map *a, const struct ls_map *b,
		struct ls_cmp_file *f);
/* The same for items whose names say so. */
void ls_cmp_mark_own(struct ls_cmp_file *f, bool (*is_own)(const char *name));
/* Opens a file of tensors of any format that is compared by tensor. */
int ls_cmp_open(const char *path, struct ls_bundle **ret, struct ls_err *err);
/* Compares two files of whatever format into f. strict: an unreadable file is an error,
 * not a comparison by bytes. */
int ls_cmp_file(const char *a, const char *b, bool strict, const struct ls_cmp_options *opt,
		struct ls_cmp_file *f, struct ls_err *err);

#endif
