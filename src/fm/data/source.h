/* Text as slices of whole lines: from a mapped file, a pipe, standard input or memory,
 * gzip undone on the way. The source owns the mapping; a slice either borrows from it or
 * owns its bytes, and ls_slice_done knows which. One thread at a time a source; slices
 * may be read by any thread while the source lives. */
#ifndef LS_FM_DATA_SOURCE_H
#define LS_FM_DATA_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/file.h"
#include "fm/data/content.h"

enum {
	LS_SLICE_PAD = 16
}; /* bytes after a slice that may be read, so that numbers load in one go */

struct ls_slice {
	const char *text; /* ends in a newline; LS_SLICE_PAD readable bytes follow */
	size_t len;
	char *owned; /* NULL when borrowed */
};

struct ls_source;

/* "-" is standard input. slice_bytes: the size of slices that is aimed at; 0 for the
 * usual. */
int ls_source_open(const char *path, size_t slice_bytes, struct ls_source **ret,
		   struct ls_err *err);
/* Borrows data; name stands for it in messages. */
void ls_source_open_memory(const char *name, const void *data, size_t len, size_t slice_bytes,
			   struct ls_source **ret);
void ls_source_free(struct ls_source *s);

const char *ls_source_name(const struct ls_source *s);
enum ls_content ls_source_content(const struct ls_source *s); /* by the first bytes */
/* The bytes of a regular file or of memory; NULL for a stream. Only for content that is
 * not text. */
const struct ls_map *ls_source_map(const struct ls_source *s);

/* Whether the file that is mapped was not written to since it was opened; what is not
 * mapped never is. */
bool ls_source_unchanged(const struct ls_source *s);
/* Accepts a change: the content is known to be the same. */
void ls_source_accept(struct ls_source *s);

/* Tells the kernel that the mapping will from now on be read in any order. */
void ls_source_read_anywhere(struct ls_source *s);

/* 1: a slice; 0: the end; negative: an error, as anything but text out of gzip is.
 * Cutting depends on the bytes and slice_bytes only. */
int ls_source_next(struct ls_source *s, struct ls_slice *ret, struct ls_err *err);
void ls_slice_done(struct ls_slice *slice);

#endif
