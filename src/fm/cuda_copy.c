/* Copies between the host's memory and the GPU's, in pieces through page-locked buffers: the pool's threads fill or
 * empty one while the others are under way. A copy from memory that is not locked goes through one thread of the driver
 * and has a fraction of the speed; locking the memory itself costs about as much as the copy. */
#include <string.h>

#include "fm/cuda_internal.h"

enum { PIECE = 8 << 20, DIRECT = 1 << 16 }; /* bytes; what is not larger than DIRECT goes as it is */

struct move {
	char *to;
	const char *from;
	uint64_t bytes;
};

static void move_share(void *context, int thread, int threads)
{
	const struct move *m = context;
	uint64_t lo, hi;
	ls_pool_share(m->bytes, thread, threads, &lo, &hi);
	memcpy(m->to + lo, m->from + lo, hi - lo);
}

static uint64_t piece_at(uint64_t bytes, uint64_t at)
{
	return bytes - at < PIECE ? bytes - at : PIECE;
}

static int make_pieces(struct ls_fm_cuda *c, struct ls_err *err)
{
	struct ls_cuda_pieces *p = &c->pieces;
	void *host = NULL;
	int rc = p->host ? 0 : ls_gpu_host_alloc(c->gpu, (uint64_t)LS_CUDA_PIECES * PIECE, "copies", &host, err);
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

int ls_cuda_copy_in(struct ls_fm_cuda *c, const void *from, uint64_t bytes, const void *to, struct ls_err *err)
{
	struct ls_cuda_pieces *p = &c->pieces;
	if (bytes <= DIRECT)
		return ls_gpu_upload(c->gpu, c->main, ls_cuda_ptr(to), from, bytes, err);
	int rc = make_pieces(c, err);
	for (uint64_t at = 0; at < bytes && rc == 0; at += PIECE) {
		uint32_t i = p->next++ % LS_CUDA_PIECES;
		struct move m = {p->host + (uint64_t)i * PIECE, (const char *)from + at, piece_at(bytes, at)};
		if (p->busy[i])
			rc = ls_gpu_event_sync(c->gpu, p->done[i], err);
		if (rc)
			break;
		ls_pool_run(c->pool, move_share, &m);
		rc = ls_gpu_upload(c->gpu, c->main, ls_cuda_ptr(to) + at, m.to, m.bytes, err);
		if (rc == 0)
			rc = ls_gpu_event_record(c->gpu, c->main, p->done[i], err);
		p->busy[i] = true;
	}
	return rc;
}

/* Asks for the piece at `at`. Copies in that still read the buffer are before it in the stream. */
static int ask(struct ls_fm_cuda *c, const void *from, uint64_t bytes, uint64_t at, struct ls_err *err)
{
	struct ls_cuda_pieces *p = &c->pieces;
	uint32_t i = (uint32_t)(at / PIECE % LS_CUDA_PIECES);
	int rc = ls_gpu_download(c->gpu, c->main, p->host + (uint64_t)i * PIECE, ls_cuda_ptr(from) + at,
				 piece_at(bytes, at), err);
	return rc ? rc : ls_gpu_event_record(c->gpu, c->main, p->done[i], err);
}

int ls_cuda_copy_out(struct ls_fm_cuda *c, void *to, uint64_t bytes, const void *from, struct ls_err *err)
{
	const uint64_t ahead = (uint64_t)LS_CUDA_PIECES * PIECE;
	struct ls_cuda_pieces *p = &c->pieces;
	if (bytes <= DIRECT)
		return ls_gpu_download(c->gpu, c->main, to, ls_cuda_ptr(from), bytes, err);
	int rc = make_pieces(c, err);
	for (uint64_t at = 0; at < bytes && at < ahead && rc == 0; at += PIECE)
		rc = ask(c, from, bytes, at, err);
	for (uint64_t at = 0; at < bytes && rc == 0; at += PIECE) {
		uint32_t i = (uint32_t)(at / PIECE % LS_CUDA_PIECES);
		struct move m = {(char *)to + at, p->host + (uint64_t)i * PIECE, piece_at(bytes, at)};
		rc = ls_gpu_event_sync(c->gpu, p->done[i], err);
		if (rc == 0)
			ls_pool_run(c->pool, move_share, &m);
		if (rc == 0 && at + ahead < bytes)
			rc = ask(c, from, bytes, at + ahead, err);
	}
	memset(p->busy, 0, sizeof p->busy);
	return rc;
}
