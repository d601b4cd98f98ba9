/* Writing .lsd with memory that does not grow: each section gathers in an unlinked file
 * beside the target, chunk by chunk with its checksum, and commit strings them together
 * behind the header. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/mem.h"
#include "fm/data/lsd.h"
#include "fm/data/lsd_format.h"

struct spool {
	int fd;         /* -1 until a chunk is full */
	uint64_t bytes; /* all of them, those in the buffer included */
	uint8_t *buffer;
	size_t used;
	uint64_t *sums;
	size_t n_sums, cap_sums;
};

struct ls_lsd_writer {
	char *path;
	struct spool spool[LS_LSD_SECTIONS];
	uint64_t n_rows, n_entries, n_features;
	uint32_t n_fields;
};

static int io_error(const struct ls_lsd_writer *w, struct ls_err *err)
{
	ls_err_errno(err, w->path, "write");
	if (err)
		err->code = LS_EIO;
	return LS_EIO;
}

static int open_spool(const struct ls_lsd_writer *w, struct spool *s, struct ls_err *err)
{
	s->fd = ls_file_unnamed(w->path);
	return s->fd < 0 ? io_error(w, err) : 0;
}

static void sum_chunk(struct spool *s)
{
	s->sums = ls_grow(s->sums, s->n_sums, &s->cap_sums, sizeof *s->sums);
	s->sums[s->n_sums++] = ls_xxh64(s->buffer, s->used);
}

static int spill(const struct ls_lsd_writer *w, struct spool *s, struct ls_err *err)
{
	int rc = s->fd < 0 ? open_spool(w, s, err) : 0;
	for (size_t at = 0; rc == 0 && at < s->used;) {
		ssize_t n = write(s->fd, s->buffer + at, s->used - at);
		if (n > 0)
			at += (size_t)n;
		else if (errno != EINTR)
			rc = io_error(w, err);
	}
	sum_chunk(s);
	s->used = 0;
	return rc;
}

static int append(struct ls_lsd_writer *w, int section, const void *data, uint64_t len,
		  struct ls_err *err)
{
	struct spool *s = &w->spool[section];
	if (!s->buffer && len && !(s->buffer = ls_alloc_array(1, LS_LSD_CHUNK)))
		return ls_err_set(err, LS_ENOMEM, "%s: no memory to write it", w->path);
	s->bytes += len;
	for (const uint8_t *p = data; len;) {
		size_t n = LS_LSD_CHUNK - s->used < len ? LS_LSD_CHUNK - s->used : (size_t)len;
		memcpy(s->buffer + s->used, p, n);
		s->used += n;
		p += n;
		len -= n;
		int rc = s->used == LS_LSD_CHUNK ? spill(w, s, err) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

static int append_ones(struct ls_lsd_writer *w, int section, uint64_t n, struct ls_err *err)
{
	float ones[1024];
	for (size_t i = 0; i < 1024; i++)
		ones[i] = 1;
	int rc = 0;
	while (n && rc == 0) {
		uint64_t m = n < 1024 ? n : 1024;
		rc = append(w, section, ones, m * sizeof *ones, err);
		n -= m;
	}
	return rc;
}

/* An array that is absent while all is 1: the first other number brings the ones before
 * it along. */
static int append_unless_ones(struct ls_lsd_writer *w, int section, const float *a, uint64_t n,
			      uint64_t before, struct ls_err *err)
{
	bool ones = true;
	for (uint64_t i = 0; a && ones && i < n; i++)
		ones = a[i] == 1;
	if (w->spool[section].bytes == 0 && ones)
		return 0;
	int rc = 0;
	if (w->spool[section].bytes == 0)
		rc = append_ones(w, section, before, err);
	if (rc == 0)
		rc = ones ? append_ones(w, section, n, err)
			  : append(w, section, a, n * sizeof *a, err);
	return rc;
}

static int append_starts(struct ls_lsd_writer *w, const struct ls_rows *part, struct ls_err *err)
{
	uint64_t some[512];
	int rc = 0;
	for (uint64_t row = 0; row < part->n_rows && rc == 0;) {
		size_t n = 0;
		for (; n < 512 && row < part->n_rows; n++, row++)
			some[n] = w->n_entries + part->start[row + 1] - part->start[0];
		rc = append(w, LS_LSD_START, some, n * sizeof *some, err);
	}
	return rc;
}

int ls_lsd_create(const char *path, struct ls_lsd_writer **ret, struct ls_err *err)
{
	struct ls_lsd_writer *w = ls_xalloc(sizeof *w);
	w->path = ls_xstrdup(path);
	for (int i = 0; i < LS_LSD_SECTIONS; i++)
		w->spool[i].fd = -1;
	uint64_t zero = 0;
	int rc = open_spool(w, &w->spool[LS_LSD_START],
			    err); /* fails early if the folder cannot be written to */
	if (rc == 0)
		rc = append(w, LS_LSD_START, &zero, sizeof zero, err);
	if (rc)
		ls_lsd_abort(w);
	else
		*ret = w;
	return rc;
}

static int same_shape(const struct ls_lsd_writer *w, const struct ls_rows *part, struct ls_err *err)
{
	bool fields = part->field && part->n_entries, had = w->spool[LS_LSD_FIELD].bytes > 0;
	bool labels = part->label != NULL, had_labels = w->spool[LS_LSD_LABEL].bytes > 0;
	if ((w->n_entries && part->n_entries && fields != had) ||
	    (w->n_rows && part->n_rows && labels != had_labels))
		return ls_err_set(err, LS_EINTERNAL, "%s: parts with and without fields or labels",
				  w->path);
	return 0;
}

int ls_lsd_add(struct ls_lsd_writer *w, const struct ls_rows *part, struct ls_err *err)
{
	uint64_t n = part->n_entries, rows = part->n_rows, first = part->start[0];
	int rc = same_shape(w, part, err);
	if (rc == 0)
		rc = append_starts(w, part, err);
	if (rc == 0)
		rc = append(w, LS_LSD_FEATURE, part->feature + first, n * sizeof *part->feature,
			    err);
	if (rc == 0 && part->field)
		rc = append(w, LS_LSD_FIELD, part->field + first, n * sizeof *part->field, err);
	if (rc == 0)
		rc = append_unless_ones(w, LS_LSD_VALUE, part->value ? part->value + first : NULL,
					n, w->n_entries, err);
	if (rc == 0 && part->label)
		rc = append(w, LS_LSD_LABEL, part->label, rows * sizeof *part->label, err);
	if (rc == 0)
		rc = append_unless_ones(w, LS_LSD_WEIGHT, part->weight, rows, w->n_rows, err);
	w->n_rows += rows;
	w->n_entries += n;
	if (n && part->n_features > w->n_features)
		w->n_features = part->n_features;
	if (n && part->n_fields > w->n_fields)
		w->n_fields = part->n_fields;
	return rc;
}

static void fill_header(struct ls_lsd_writer *w, struct ls_lsd_header *h)
{
	memcpy(h->magic, ls_lsd_magic, sizeof h->magic);
	h->version = LS_LSD_VERSION;
	h->header_bytes = LS_LSD_PAGE;
	h->n_rows = w->n_rows;
	h->n_entries = w->n_entries;
	h->n_features = w->n_features;
	h->n_fields = w->n_fields;
	h->n_sections = LS_LSD_SECTIONS;
	for (int i = 0; i < LS_LSD_SECTIONS; i++) {
		struct spool *s = &w->spool[i];
		h->section[i].bytes = s->bytes;
		if (s->used)
			sum_chunk(s);
		if (s->bytes)
			h->section[i].checksum = ls_xxh64(s->sums, s->n_sums * sizeof *s->sums);
	}
	ls_lsd_place(h);
	h->checksum = ls_lsd_header_sum(h);
}

/* The chunks on disk, the one still in the buffer, zeros up to the page. */
static int copy_spool(const struct ls_lsd_writer *w, struct spool *s, struct ls_writer *out,
		      struct ls_err *err)
{
	static const uint8_t zeros[LS_LSD_PAGE];
	enum { PIECE = 1 << 18 };
	uint8_t *piece = ls_xalloc(PIECE);
	uint64_t on_disk = s->bytes - s->used;
	int rc = 0;
	for (uint64_t at = 0; at < on_disk && rc == 0;) {
		uint64_t want = on_disk - at < PIECE ? on_disk - at : PIECE;
		ssize_t n = pread(s->fd, piece, want, (off_t)at);
		if (n > 0) {
			rc = ls_writer_write(out, piece, (size_t)n, err);
			at += (uint64_t)n;
		} else if (n == 0 || errno != EINTR) {
			rc = io_error(w, err);
		}
	}
	free(piece);
	if (rc == 0 && s->used)
		rc = ls_writer_write(out, s->buffer, s->used, err);
	uint64_t pad = (LS_LSD_PAGE - s->bytes % LS_LSD_PAGE) % LS_LSD_PAGE;
	return rc ? rc : ls_writer_write(out, zeros, pad, err);
}

int ls_lsd_commit(struct ls_lsd_writer *w, struct ls_err *err)
{
	struct ls_lsd_header *h = ls_xalloc(sizeof *h);
	struct ls_writer *out = NULL;
	fill_header(w, h);
	int rc = ls_writer_open(w->path, &out, err);
	if (rc == 0)
		rc = ls_writer_write(out, h, sizeof *h, err);
	for (int i = 0; i < LS_LSD_SECTIONS && rc == 0; i++)
		rc = copy_spool(w, &w->spool[i], out, err);
	if (rc == 0)
		rc = ls_writer_commit(out, err);
	else
		ls_writer_abort(out);
	free(h);
	ls_lsd_abort(w);
	return rc;
}

void ls_lsd_abort(struct ls_lsd_writer *w)
{
	if (!w)
		return;
	for (int i = 0; i < LS_LSD_SECTIONS; i++) {
		if (w->spool[i].fd >= 0)
			close(w->spool[i].fd);
		free(w->spool[i].buffer);
		free(w->spool[i].sums);
	}
	free(w->path);
	free(w);
}
