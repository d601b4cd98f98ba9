/* Copies between host and GPU in pieces through page-locked buffers: the pool's threads
 * fill or empty one buffer while others are being copied. A copy from pageable memory
 * goes through one thread of the driver and is several times slower; locking the memory
 * itself costs about as much as the copy. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fm/cuda/host/cuda_internal.h"

enum {
	PIECE = 8 << 20,
	DIRECT = 1 << 16
}; /* bytes; up to DIRECT a copy is made without a buffer */

/* Bytes at .. at + bytes of an array on their way between its runs in the host's memory
 * and a buffer without gaps. */
struct move {
	const struct ls_cuda_runs *runs;
	char *buffer;
	uint64_t at, bytes;
	bool out; /* from the buffer */
};

static void move_share(void *context, int thread, int threads)
{
	const struct move *m = context;
	uint64_t lo, hi, size = m->runs->size;
	ls_pool_share(m->bytes, thread, threads, &lo, &hi);
	while (lo < hi) {
		uint64_t in_run = (m->at + lo) % size,
			 n = size - in_run < hi - lo ? size - in_run : hi - lo;
		char *host = m->runs->host + (m->at + lo) / size * m->runs->stride + in_run;
		if (m->out)
			memcpy(host, m->buffer + lo, n);
		else
			memcpy(m->buffer + lo, host, n);
		lo += n;
	}
}

static uint64_t piece_at(uint64_t bytes, uint64_t at)
{
	return bytes - at < PIECE ? bytes - at : PIECE;
}

static int make_pieces(struct ls_fm_cuda *c, struct ls_err *err)
{
	struct ls_cuda_pieces *p = &c->pieces;
	void *host = NULL;
	int rc = p->host ? 0
			 : ls_gpu_host_alloc(c->gpu, (uint64_t)LS_CUDA_PIECES * PIECE, "copies",
					     &host, err);
	if (rc || p->host)
		return rc;
	p->host = host;
	for (int i = 0; i < LS_CUDA_PIECES && rc == 0; i++)
		rc = ls_gpu_event_new(c->gpu, false, &p->done[i], err);
	return rc;
}

void ls_cuda_free_pieces(struct ls_fm_cuda *c)
{
	for (int i = 0; i < LS_CUDA_PIECES; i++)
		ls_gpu_event_free(c->gpu, c->pieces.done[i]);
	ls_gpu_host_free(c->gpu, c->pieces.host);
}

/* A small array: as it is, or, if it has gaps, through a buffer that lives until the copy
 * is done. */
static int small_in(struct ls_fm_cuda *c, const struct ls_cuda_runs *from, const void *to,
		    struct ls_err *err)
{
	uint64_t bytes = from->n * from->size;
	if (from->n == 1)
		return ls_gpu_upload(c->gpu, c->main, ls_cuda_ptr(to), from->host, bytes, err);
	struct move m = {from, ls_xalloc(bytes), 0, bytes, false};
	move_share(&m, 0, 1);
	int rc = ls_gpu_upload(c->gpu, c->main, ls_cuda_ptr(to), m.buffer, bytes, err);
	if (rc == 0)
		rc = ls_gpu_sync(c->gpu, c->main, err);
	free(m.buffer);
	return rc;
}

static int small_out(struct ls_fm_cuda *c, const struct ls_cuda_runs *to, const void *from,
		     struct ls_err *err)
{
	uint64_t bytes = to->n * to->size;
	if (to->n == 1)
		return ls_gpu_download(c->gpu, c->main, to->host, ls_cuda_ptr(from), bytes, err);
	struct move m = {to, ls_xalloc(bytes), 0, bytes, true};
	int rc = ls_gpu_download(c->gpu, c->main, m.buffer, ls_cuda_ptr(from), bytes, err);
	if (rc == 0)
		rc = ls_gpu_sync(c->gpu, c->main, err);
	if (rc == 0)
		move_share(&m, 0, 1);
	free(m.buffer);
	return rc;
}

int ls_cuda_copy_in(struct ls_fm_cuda *c, const struct ls_cuda_runs *from, const void *to,
		    struct ls_err *err)
{
	struct ls_cuda_pieces *p = &c->pieces;
	uint64_t bytes = from->n * from->size;
	if (bytes <= DIRECT)
		return small_in(c, from, to, err);
	int rc = make_pieces(c, err);
	for (uint64_t at = 0; at < bytes && rc == 0; at += PIECE) {
		uint32_t i = p->next++ % LS_CUDA_PIECES;
		struct move m = {from, p->host + (uint64_t)i * PIECE, at, piece_at(bytes, at),
				 false};
		if (p->busy[i])
			rc = ls_gpu_event_sync(c->gpu, p->done[i], err);
		if (rc)
			break;
		ls_pool_run(c->pool, move_share, &m);
		rc = ls_gpu_upload(c->gpu, c->main, ls_cuda_ptr(to) + at, m.buffer, m.bytes, err);
		if (rc == 0)
			rc = ls_gpu_event_record(c->gpu, c->main, p->done[i], err);
		p->busy[i] = true;
	}
	return rc;
}

/* Starts the download of the piece at `at`. Uploads that still read the buffer come
 * before it in the stream. */
static int start_download(struct ls_fm_cuda *c, const void *from, uint64_t bytes, uint64_t at,
			  struct ls_err *err)
{
	struct ls_cuda_pieces *p = &c->pieces;
	uint32_t i = (uint32_t)(at / PIECE % LS_CUDA_PIECES);
	int rc = ls_gpu_download(c->gpu, c->main, p->host + (uint64_t)i * PIECE,
				 ls_cuda_ptr(from) + at, piece_at(bytes, at), err);
	return rc ? rc : ls_gpu_event_record(c->gpu, c->main, p->done[i], err);
}

int ls_cuda_copy_out(struct ls_fm_cuda *c, const struct ls_cuda_runs *to, const void *from,
		     struct ls_err *err)
{
	uint64_t bytes = to->n * to->size;
	const uint64_t ahead = (uint64_t)LS_CUDA_PIECES * PIECE;
	struct ls_cuda_pieces *p = &c->pieces;
	if (bytes <= DIRECT)
		return small_out(c, to, from, err);
	int rc = make_pieces(c, err);
	for (uint64_t at = 0; at < bytes && at < ahead && rc == 0; at += PIECE)
		rc = start_download(c, from, bytes, at, err);
	for (uint64_t at = 0; at < bytes && rc == 0; at += PIECE) {
		uint32_t i = (uint32_t)(at / PIECE % LS_CUDA_PIECES);
		struct move m = {to, p->host + (uint64_t)i * PIECE, at, piece_at(bytes, at), true};
		rc = ls_gpu_event_sync(c->gpu, p->done[i], err);
		if (rc == 0)
			ls_pool_run(c->pool, move_share, &m);
		if (rc == 0 && at + ahead < bytes)
			rc = start_download(c, from, bytes, at + ahead, err);
	}
	memset(p->busy, 0, sizeof p->busy);
	return rc;
}
