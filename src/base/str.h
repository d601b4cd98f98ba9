/* A growing string, and common questions about strings.
 * `struct ls_str s = {0};` is ready for use; ls_str_done frees; s.s is NUL-terminated, or
 * NULL when nothing was added. One thread at a time an object. */
#ifndef LS_BASE_STR_H
#define LS_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ls_str {
	char *s;
	size_t len, cap;
};

void ls_str_done(struct ls_str *str);
void ls_str_add(struct ls_str *str, const char *text);
void ls_str_add_bytes(struct ls_str *str, const void *bytes, size_t len);
void ls_str_addf(struct ls_str *str, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends text with everything that is not printable UTF-8 as \xNN: control characters,
 * invalid bytes, marks that change the direction of writing. */
void ls_str_add_printable(struct ls_str *str, const char *text);
/* Appends text for a page of HTML or SVG, also between quotes. NULL is nothing. */
void ls_str_add_html(struct ls_str *str, const char *text);
/* Appends text for Markdown, also into a cell of a table: what could become markup, a
 * link, a mention or the end of a cell is written as a character reference. NULL is
 * nothing. */
void ls_str_add_markdown(struct ls_str *str, const char *text);
char *ls_str_take(struct ls_str *str); /* the caller frees; never NULL */

/* A word quoted for a shell where that is necessary; the caller frees. */
char *ls_str_shell(const char *word);

bool ls_str_starts(const char *s, const char *prefix);
bool ls_str_ends(const char *s, const char *suffix);
char *ls_str_trim(char *s); /* in place; returns the first non-blank */

/* The candidate nearest to word (edit distance at most a third of its length), or NULL.
 * names ends with NULL. */
const char *ls_str_nearest(const char *word, const char *const *names);

/* The whole string as a number within [min, max]. `what` names it in the message, as in
 * "option --threads". */
int ls_str_to_u64(const char *s, uint64_t min, uint64_t max, const char *what, uint64_t *ret,
		  struct ls_err *err);
int ls_str_to_double(const char *s, double min, double max, const char *what, double *ret,
		     struct ls_err *err);

/* Sizes of memory in powers of 1024. Read: "512K", "40G", "1024", at least 1. Written:
 * "40.0 GiB". */
enum { LS_SIZE_TEXT = 32 };
int ls_str_to_size(const char *s, const char *what, uint64_t *ret, struct ls_err *err);
void ls_str_of_size(uint64_t bytes, char ret[LS_SIZE_TEXT]);

#endif
