/* The mapped binary form of rows, .lsd: docs/FORMATS.md describes the bytes. Arrays are
 * used where they lie in the file. ls_lsd_view borrows the mapping; a writer owns a
 * temporary file until commit renames it or abort removes it. Viewing makes threads of
 * its own for the check; a writer belongs to one thread at a time. */
#ifndef LS_FM_DATA_LSD_H
#define LS_FM_DATA_LSD_H

#include "base/err.h"
#include "base/file.h"
#include "fm/data/rows.h"

/* Checks everything (header, checksums, offsets, ranges) with that many threads; nothing
 * forged gets past it. */
int ls_lsd_view(const char *name, const struct ls_map *map, int threads, struct ls_rows *ret,
		struct ls_err *err);

/* The checksum of a header that was checked. Two files have the same one if and only if
 * all else in them is the same. */
uint64_t ls_lsd_sum(const struct ls_map *map);

struct ls_lsd_writer;

int ls_lsd_create(const char *path, struct ls_lsd_writer **ret, struct ls_err *err);
/* Appends rows; part->start begins anywhere and counts into part's arrays. Memory does
 * not grow with what is added. */
int ls_lsd_add(struct ls_lsd_writer *w, const struct ls_rows *part, struct ls_err *err);
int ls_lsd_commit(struct ls_lsd_writer *w, struct ls_err *err); /* frees w either way */
void ls_lsd_abort(struct ls_lsd_writer *w);                     /* NULL is fine */

#endif
