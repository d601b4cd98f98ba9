/* Slices to blocks on several threads, handed on in file order. */
#include <pthread.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "fm/data/text.h"

/* A worker takes the next slice under the lock, where a stream is inflated, parses it
 * beside the others, and waits for its turn to hand the block on. So there are never more
 * blocks than threads, and the order after parsing does not depend on the number of
 * threads. */
struct reader {
	pthread_mutex_t lock;
	pthread_cond_t turned;
	struct ls_source *source;
	enum ls_text_format format;
	ls_text_sink *sink;
	void *ctx;
	uint64_t taken, turn; /* slices handed out; whose turn it is */
	uint64_t lines;       /* of the blocks handed on */
	uint64_t rows, unlabelled;
	bool stop;
	int rc;
	struct ls_err err;
};

static void stop(struct reader *r, int rc)
{
	if (!r->stop)
		r->rc = rc;
	r->stop = true;
	pthread_cond_broadcast(&r->turned);
}

/* Fetches a slice, or hands a block on, under the lock: without memory that fails like any
 * other error, and the lock is given back. */
struct next_slice {
	struct reader *r;
	struct ls_slice *ret;
};

static int next_slice(void *context, struct ls_err *err)
{
	const struct next_slice *n = context;
	return ls_source_next(n->r->source, n->ret, err);
}

/* The source's own errors wait for the blocks before them: a fault in an earlier line
 * comes first. */
static int take(struct reader *r, struct ls_slice *ret, uint64_t *ret_number,
		enum ls_text_format *ret_format, struct ls_err *err)
{
	pthread_mutex_lock(&r->lock);
	struct next_slice next = {r, ret};
	int rc = r->stop ? 0 : ls_mem_try(next_slice, &next, err);
	if (rc)
		*ret_number = r->taken++;
	if (rc == 1 && r->format == LS_TEXT_UNKNOWN)
		r->format = ls_text_detect(ret);
	*ret_format = r->format;
	pthread_mutex_unlock(&r->lock);
	return rc;
}

static int place_fault(const struct reader *r, const struct ls_text_place *at, const char *msg,
		       struct ls_err *err)
{
	return ls_err_set(err, LS_EINPUT, "%s:%llu:%llu: %s", ls_source_name(r->source),
			  (unsigned long long)(r->lines + at->line), (unsigned long long)at->column,
			  msg);
}

/* Rows of this slice that have labels while those before it had none, or the other way
 * round. */
static bool mixed(const struct reader *r, uint64_t rows, bool unlabelled)
{
	return r->rows && rows && (r->unlabelled != 0) != unlabelled;
}

static int report(const struct reader *r, const struct ls_text_fault *f, struct ls_err *err)
{
	if (mixed(r, f->rows, f->first_unlabelled))
		return place_fault(r, &f->first, LS_TEXT_MIXED, err);
	return place_fault(r, &f->at, f->msg, err);
}

struct handing {
	struct reader *r;
	struct ls_block *block;
};

static int hand_on(void *context, struct ls_err *err)
{
	struct reader *r = ((struct handing *)context)->r;
	struct ls_block *b = ((struct handing *)context)->block;
	struct ls_text_place first = ls_block_first(b);
	if (mixed(r, b->n_rows, b->first_unlabelled))
		return place_fault(r, &first, LS_TEXT_MIXED, err);
	for (size_t i = 0; i < b->n_runs; i++) {
		b->run[i].row += r->rows;
		b->run[i].line += r->lines;
	}
	r->lines += b->n_lines;
	r->rows += b->n_rows;
	r->unlabelled += b->unlabelled;
	return r->sink(r->ctx, b, err);
}

static void wait_for_turn(struct reader *r, uint64_t number)
{
	while (r->turn != number && !r->stop)
		pthread_cond_wait(&r->turned, &r->lock);
}

struct parsing {
	struct ls_slice *slice;
	enum ls_text_format format;
	struct ls_block *block;
	struct ls_text_fault *fault;
};

static int parse(void *context, struct ls_err *err)
{
	const struct parsing *p = context;
	(void)err;
	return ls_text_parse(p->slice, p->format, p->block, p->fault);
}

static void work(void *ctx, size_t task)
{
	struct reader *r = ctx;
	struct ls_slice slice;
	uint64_t number = 0;
	enum ls_text_format format;
	int rc = 0;
	struct ls_err err = {0};
	(void)task;
	while ((rc = take(r, &slice, &number, &format, &err)) != 0) {
		struct ls_block b = {0};
		struct ls_text_fault f = {0};
		if (rc == 1) {
			rc = ls_mem_try(parse, &(struct parsing){&slice, format, &b, &f}, &err);
			ls_slice_done(&slice);
			if (rc == LS_ENOMEM)
				ls_err_set(&err, rc, "%s: no memory for its rows",
					   ls_source_name(r->source));
		}
		pthread_mutex_lock(&r->lock);
		wait_for_turn(r, number);
		if (!r->stop) {
			if (f.at.line)
				report(r, &f, &err);
			if (rc == 0)
				rc = ls_mem_try(hand_on, &(struct handing){r, &b}, &err);
			if (rc) {
				r->err = err;
				stop(r, rc);
			}
			r->turn++;
			pthread_cond_broadcast(&r->turned);
		}
		pthread_mutex_unlock(&r->lock);
		ls_block_done(&b);
	}
}

int ls_text_read(struct ls_source *s, enum ls_text_format format, int threads, ls_text_sink *sink,
		 void *ctx, struct ls_err *err)
{
	struct reader r = {.source = s, .format = format, .sink = sink, .ctx = ctx};
	pthread_mutex_init(&r.lock, NULL);
	pthread_cond_init(&r.turned, NULL);
	ls_parallel(threads, (size_t)(threads > 1 ? threads : 1), work, &r);
	pthread_cond_destroy(&r.turned);
	pthread_mutex_destroy(&r.lock);
	if ((r.rc == 0 || r.rc == LS_EINPUT) && !ls_source_unchanged(s))
		return ls_err_set(
			err, LS_EINPUT,
			"%s: was written to while it was read; start again when it is whole",
			ls_source_name(s));
	if (r.rc && err)
		*err = r.err;
	return r.rc;
}
