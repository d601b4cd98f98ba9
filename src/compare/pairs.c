/* Element comparison on threads: mapped tensors in blocks, memcmp first and a closer look
 * only where it says no; others through cursors in windows. Memory is constant: blocks
 * are given back to the page cache once seen. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/mem.h"
#include "compare/compare_internal.h"
#include "tensor/cursor.h"

enum {
	BLOCK = 4 << 20,  /* bytes a job */
	CHUNK = 1 << 16,  /* within a block: what memcmp says no to is looked at closely */
	WINDOW = 1 << 20, /* bytes a side for cursors */
	MAX_THREADS = 64,
};

struct job {
	size_t pair;
	uint64_t at, len; /* bytes; cursors take the whole tensor */
};

struct work {
	struct ls_pair *pairs;
	struct job *jobs;
	size_t n_jobs, cap_jobs;
	atomic_size_t next;
	atomic_bool failed;
	bool only_same; /* only whether anything differs is asked for: `failed` is the answer */
	pthread_mutex_t lock; /* over statistics, progress and the error */
	const struct ls_cmp_options *opt;
	const char *file;
	uint64_t done, total;
	struct ls_err *err;
	int rc;
};

static bool is_direct(const struct ls_pair *p)
{
	return ls_tensor_is_plain(p->a) && ls_tensor_is_plain(p->b);
}

static void add_jobs(struct work *w, size_t pair)
{
	const struct ls_pair *p = &w->pairs[pair];
	uint64_t size = p->a->elem_size ? p->a->elem_size : 1, step = p->a->nbytes;
	if (is_direct(p) && step > BLOCK)
		step = BLOCK > size ? BLOCK / size * size : size;
	for (uint64_t at = 0; at < p->a->nbytes; at += step) {
		uint64_t left = p->a->nbytes - at;
		w->jobs = ls_grow(w->jobs, w->n_jobs, &w->cap_jobs, sizeof *w->jobs);
		w->jobs[w->n_jobs++] = (struct job){pair, at, left < step ? left : step};
	}
	w->total += p->a->nbytes * 2;
}

/* Asks the kernel for the pages in one go, or gives them back; only whole pages inside of
 * the range. */
static void advise(const uint8_t *p, uint64_t len, int advice)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
		  from = ((uintptr_t)p + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)p + len) & ~(page - 1);
	if (end > from)
		madvise((void *)from, end - from, advice);
}

static void add(struct ls_stats *s, const struct ls_pair *p, const uint8_t *a, const uint8_t *b,
		size_t n, uint64_t base)
{
	ls_stats_add(s, p->a->dtype, p->a->elem_size, a, b, n, base);
	if (p->limits)
		s->beyond += ls_count_beyond(p->limits, p->a->dtype, p->a->elem_size, a, b, n);
}

static void compare_direct(struct work *w, const struct ls_pair *p, const struct job *j,
			   struct ls_stats *s)
{
	const uint8_t *a = p->a->data + j->at, *b = p->b->data + j->at;
	uint64_t size = p->a->elem_size ? p->a->elem_size : 1,
		 step = CHUNK > size ? CHUNK / size * size : size;
	bool large = p->a->nbytes > BLOCK;
#ifdef MADV_POPULATE_READ
	if (large) {
		advise(a, j->len, MADV_POPULATE_READ);
		advise(b, j->len, MADV_POPULATE_READ);
	}
#endif
	for (uint64_t at = 0; at < j->len; at += step) {
		size_t n = j->len - at < step ? j->len - at : step;
		if (memcmp(a + at, b + at, n) == 0)
			s->elements += n / size;
		else if (w->only_same)
			atomic_store(&w->failed, true);
		else
			add(s, p, a + at, b + at, n, (j->at + at) / size);
	}
	if (large) {
		advise(a, j->len, MADV_DONTNEED);
		advise(b, j->len, MADV_DONTNEED);
	}
}

static int compare_cursors(struct work *w, const struct ls_pair *p, struct ls_stats *s,
			   struct ls_err *err)
{
	uint64_t size = p->a->elem_size ? p->a->elem_size : 1,
		 window = WINDOW > size ? WINDOW / size * size : size;
	uint8_t *buf = ls_alloc_array(2, window);
	struct ls_cursor *ca = ls_cursor_new(p->a), *cb = ls_cursor_new(p->b);
	int rc = buf ? 0
		     : ls_err_set(err, LS_ENOMEM, "no memory for an element of %u bytes",
				  p->a->elem_size);
	for (uint64_t at = 0; rc == 0 && at < p->a->nbytes && !atomic_load(&w->failed);
	     at += window) {
		size_t n = p->a->nbytes - at < window ? p->a->nbytes - at : window;
		rc = ls_cursor_read(ca, buf, n, err);
		if (rc == 0)
			rc = ls_cursor_read(cb, buf + window, n, err);
		if (rc == 0)
			add(s, p, buf, buf + window, n, at / size);
	}
	ls_cursor_free(ca);
	ls_cursor_free(cb);
	free(buf);
	return rc;
}

struct reading {
	struct work *work;
	const struct ls_pair *pair;
	struct ls_stats *stats;
};

static int try_cursors(void *context, struct ls_err *err)
{
	const struct reading *r = context;
	return compare_cursors(r->work, r->pair, r->stats, err);
}

static void finish(struct work *w, const struct job *j, const struct ls_stats *s, int rc,
		   const struct ls_err *err)
{
	pthread_mutex_lock(&w->lock);
	ls_stats_merge(&w->pairs[j->pair].stats, s);
	w->done += j->len * 2;
	if (w->opt->progress && !w->only_same)
		w->opt->progress(w->opt->ctx, w->file, w->done, w->total);
	if (rc && w->rc == 0) {
		w->rc = rc;
		*w->err = *err;
		atomic_store(&w->failed, true);
	}
	pthread_mutex_unlock(&w->lock);
}

static void *worker(void *arg)
{
	struct work *w = arg;
	for (;;) {
		size_t i = atomic_fetch_add(&w->next, 1);
		if (i >= w->n_jobs || atomic_load(&w->failed))
			return NULL;
		const struct job *j = &w->jobs[i];
		const struct ls_pair *p = &w->pairs[j->pair];
		struct ls_stats s = {0};
		struct ls_err err = {0};
		int rc = 0;
		if (is_direct(p))
			compare_direct(w, p, j, &s);
		else
			rc = ls_mem_try(try_cursors, &(struct reading){w, p, &s}, &err);
		finish(w, j, &s, rc, &err);
	}
}

static unsigned thread_count(const struct work *w)
{
	unsigned n = w->opt->threads ? w->opt->threads : (unsigned)ls_cpus();
	if (n > w->n_jobs)
		n = (unsigned)w->n_jobs;
	if (w->total < 2 * BLOCK) /* starting threads would cost more than it saves */
		n = 1;
	return n < MAX_THREADS ? n : MAX_THREADS;
}

static void run_threads(struct work *w)
{
	pthread_t threads[MAX_THREADS];
	unsigned n = thread_count(w), started = 0;
	while (started + 1 < n && pthread_create(&threads[started], NULL, worker, w) == 0)
		started++;
	worker(w); /* this thread works too, and alone where no other could be started */
	while (started)
		pthread_join(threads[--started], NULL);
}

bool ls_pairs_same_bytes(const struct ls_map *a, const struct ls_map *b,
			 const struct ls_cmp_options *opt, const char *file)
{
	if (a->len != b->len)
		return false;
	struct ls_tensor t[2] = {{.dtype = LS_DT_U8, .elem_size = 1, .data = a->data},
				 {.dtype = LS_DT_U8, .elem_size = 1, .data = b->data}};
	struct ls_pair pair = {.a = &t[0], .b = &t[1]};
	uint64_t len = a->len;
	struct work w = {.pairs = &pair, .opt = opt, .file = file, .only_same = true, .err = NULL};
	if (ls_tensor_set_contiguous(&t[0], &len, 1, NULL) ||
	    ls_tensor_set_contiguous(&t[1], &len, 1, NULL))
		return false;
	pthread_mutex_init(&w.lock, NULL);
	add_jobs(&w, 0);
	run_threads(&w);
	pthread_mutex_destroy(&w.lock);
	free(w.jobs);
	return !atomic_load(&w.failed);
}

int ls_pairs_run(struct ls_pair *pairs, size_t n, const struct ls_cmp_options *opt,
		 const char *file, struct ls_err *err)
{
	struct ls_err local = {0};
	struct work w = {.pairs = pairs, .opt = opt, .file = file, .err = &local};
	pthread_mutex_init(&w.lock, NULL);
	for (size_t i = 0; i < n; i++)
		add_jobs(&w, i);
	run_threads(&w);
	pthread_mutex_destroy(&w.lock);
	free(w.jobs);
	if (w.rc)
		return ls_err_set(err, w.rc, "%s", local.msg);
	return 0;
}
