/* Two files or two folders compared: by tensor, by value, by cell, or by byte, as their
 * formats allow. The verdict is exact. The result owns everything in it
 * (ls_comparison_free accepts NULL). One call uses threads of its own; calls may run at
 * the same time. */
#ifndef LS_COMPARE_COMPARE_H
#define LS_COMPARE_COMPARE_H

#include "base/json.h"
#include "base/str.h"
#include "compare/own.h"
#include "compare/tolerance.h"

enum ls_cmp_kind { LS_CMP_TENSOR, LS_CMP_VALUE, LS_CMP_COLUMN, LS_CMP_BYTES, LS_CMP_FILE };
enum ls_cmp_status {
	LS_CMP_DIFFERS,
	LS_CMP_ONLY_A,
	LS_CMP_ONLY_B,
	LS_CMP_TYPE,
	LS_CMP_SHAPE,
	LS_CMP_SIZE
};

/* One thing that differs. */
struct ls_cmp_item {
	enum ls_cmp_kind kind;
	enum ls_cmp_status status;
	enum ls_dtype dtype; /* of tensors that differ */
	char *name;
	char *a, *b; /* VALUE: both texts; TYPE, SHAPE, SIZE: what each side has; NULL where a side
			is missing */
	bool within; /* the tolerance; false where there is none */
	char *first; /* "[3, 17]": where the first difference lies, or NULL */
	bool plain;  /* a and b are the whole values, uncut and of one type */
	bool own;    /* only what each side says about its own run: not counted as differing */
	const struct ls_stats *stats; /* zeroes where there are no elements; never NULL */
};

struct ls_cmp_file {
	char *name;         /* relative name within the folders; "" for two files */
	char *name_b;       /* B's, where it differs from A's in what names the run, else NULL */
	const char *format; /* how it was read: "safetensors", "PyTorch", "JSON", "bytes", … */
	char *note;         /* why it was not read as what it seems to be, or NULL */
	uint64_t tensors,
		tensors_differ; /* one-sided names and changed shapes count as differing */
	uint64_t values, values_differ;
	uint64_t columns, columns_differ;
	uint64_t beyond; /* differences that are not within the tolerance */
	uint64_t bytes;  /* compared, of both sides together */
	uint64_t unread; /* values that both sides have and that cannot be judged */
	uint64_t ignored;
	uint64_t own; /* items and names that differ only in what each says about its own run */
	bool whole;   /* compared by byte, or by the target of a link */
	bool differs;
	struct ls_cmp_item *items;
	size_t n_items, cap_items;
};

struct ls_comparison {
	char *a, *b;
	bool folders;
	bool differs;   /* also when nothing was found to differ but something was not read */
	bool undecided; /* nothing differs, and something was not read */
	struct ls_cmp_file *files;
	size_t n_files, cap_files;
	uint64_t files_differ, tensors, tensors_differ, values, values_differ, columns,
		columns_differ, unread, ignored, own;
	char *tolerance; /* the rules as they were given, or NULL */
	/* Differences beyond it, in all files and by kind of what differs. */
	uint64_t beyond, tensors_beyond, values_beyond, columns_beyond;
};

struct ls_cmp_options {
	const char *const *ignore; /* patterns for names of tensors, values, columns and files */
	size_t n_ignore;
	const struct ls_own *own; /* the runs that made the two sides, or NULL: nothing is known */
	const struct ls_tolerance *tolerance; /* for a second verdict; later rules win */
	size_t n_tolerance;
	const char *tolerance_text; /* the rules as they were given, for the reports */
	unsigned threads;           /* 0: as many as the machine has */
	void (*progress)(void *ctx, const char *file, uint64_t done,
			 uint64_t total); /* bytes; or NULL */
	void *ctx;
};

/* Fails when nothing is left to compare, as when every name is ignored. */
int ls_compare(const char *a, const char *b, const struct ls_cmp_options *opt,
	       struct ls_comparison **ret, struct ls_err *err);
void ls_comparison_free(struct ls_comparison *c);

/* Reports: plain text for people, one JSON document, one self-contained page. limit:
 * lines a file, 0 for all. */
void ls_comparison_text(const struct ls_comparison *c, size_t limit, struct ls_str *out);
json_t *ls_comparison_json(const struct ls_comparison *c);
void ls_comparison_html(const struct ls_comparison *c, struct ls_str *out);
/* The parts of that page, for pages that hold more: its head up to <body>, the one or two
 * verdicts, and what differs, files that differ first. */
void ls_comparison_html_head(const char *title, struct ls_str *out);
void ls_comparison_html_verdict(const struct ls_comparison *c, struct ls_str *out);
void ls_comparison_html_details(const struct ls_comparison *c, struct ls_str *out);
/* The same for a pull request, as GitHub's Markdown, and only its table of differences,
 * which is nothing where there are none; limit: rows of all files together, 0 for all. */
void ls_comparison_markdown(const struct ls_comparison *c, size_t limit, struct ls_str *out);
void ls_comparison_markdown_table(const struct ls_comparison *c, size_t limit, struct ls_str *out);
/* "within tolerance: 0/202 tensors beyond it"; only where a tolerance was given. */
void ls_comparison_second_verdict(const struct ls_comparison *c, struct ls_str *out);
/* "identical: 0/202 tensors differ": the one line that says it all. */
void ls_comparison_verdict(const struct ls_comparison *c, struct ls_str *out);

#endif
