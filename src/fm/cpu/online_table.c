#include "fm/cpu/online_table.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "fm/model/cell.h"

bool ls_online_shares = true;
#if defined(__x86_64__)
bool ls_online_spreads = true;
#else
bool ls_online_spreads = false;
#endif

/* --- homes --- */

struct search {
	struct ls_online_table *t;
	const struct ls_rows *rows;
};

/* Where a feature is at home, and so which of two threads says so last, is not seen in the bytes.
 */
static void find_homes(void *context, int thread, int threads)
{
	const struct search *s = context;
	uint64_t lo, hi;
	ls_pool_share(s->rows->n_entries, thread, threads, &lo, &hi);
	for (uint64_t e = lo; e < hi; e++) {
		_Atomic uint8_t *home = &s->t->home[s->t->front.place[s->rows->feature[e]]];
		if (atomic_load_explicit(home, memory_order_relaxed) == LS_ONLINE_NO_HOME)
			atomic_store_explicit(home, (uint8_t)s->rows->field[e],
					      memory_order_relaxed);
	}
}

static size_t part_bytes(const struct ls_fm_model *m, const struct ls_online_part *p)
{
	return sizeof(float) * m->n_features * p->room;
}

static int share_classes(struct ls_online_table *t, bool spread, int threads, struct ls_err *err)
{
	const struct ls_fm_model *m = t->m;
	const uint32_t stride = (uint32_t)ls_fm_stride(m); /* of few fields, and of one output */
	uint64_t need = ls_fm_model_bytes(&m->opts, m->n_features, m->n_fields);
	t->group = LS_FM_GROUP * stride;
	for (int i = 0; i < threads; i++) {
		uint64_t lo, hi;
		ls_pool_share(t->classes, i, threads, &lo, &hi);
		uint32_t n = (uint32_t)(hi - lo);
		struct ls_online_part p = {
			.lo = (uint32_t)lo, .n = n, .each = stride, .room = (n + 3) / 4 * 4};
		if (spread) {
			p.start = lo * LS_FM_LINE * LS_FM_GROUP;
			p.each = n * LS_FM_LINE;
		}
		need += part_bytes(m, &p);
		p.sums =
			n && need <= ls_memory_most("") ? ls_fm_big_alloc(part_bytes(m, &p)) : NULL;
		if (n && !p.sums)
			return ls_err_set(err, LS_ENOMEM,
					  "no memory for the sums of squares of %llu features",
					  (unsigned long long)m->n_features);
		for (uint64_t c = lo; c < hi; c++)
			t->of_class[c] = p;
	}
	return 0;
}

static int make_homes(struct ls_online_table *t, const struct ls_rows *rows, struct ls_pool *pool,
		      struct ls_err *err)
{
	uint64_t n = t->m->n_features;
	t->home = ls_alloc_array(n + !n, sizeof *t->home);
	if (!t->home)
		return ls_err_set(err, LS_ENOMEM, "no memory for the fields of %llu features",
				  (unsigned long long)n);
	for (uint64_t j = 0; j < n; j++)
		atomic_init(&t->home[j], LS_ONLINE_NO_HOME);
	ls_pool_run(pool, find_homes, &(struct search){t, rows});
	for (uint64_t j = 0; j < n; j++)
		if (ls_online_home(t, (uint32_t)j) == LS_ONLINE_NO_HOME)
			atomic_init(&t->home[j], 0);
	return 0;
}

int ls_online_table_init(struct ls_online_table *t, struct ls_fm_model *m,
			 const struct ls_rows *rows, struct ls_pool *pool, struct ls_err *err)
{
	bool usual = m->opts.optimizer == LS_ADAGRAD && !ls_fm_update(&m->opts, 0, 1).regular &&
		     m->outputs == 1;
	t->m = m;
	t->classes = ls_online_classes(m->n_fields, m->padded);
	t->shared = ls_online_shares && usual &&
		    (m->padded == 4 || m->padded == 8 || m->padded == 16) &&
		    t->classes <= LS_ONLINE_CLASSES && m->n_fields <= LS_ONLINE_FIELDS;
	int rc = ls_online_front_init(&t->front, m, rows, err);
	if (rc || !t->shared)
		return rc;
	bool spread = ls_online_spreads && ls_pool_threads(pool) > 1;
	rc = share_classes(t, spread, ls_pool_threads(pool), err);
	return rc == 0 && spread ? make_homes(t, rows, pool, err) : rc;
}

void ls_online_table_free(struct ls_online_table *t)
{
	for (uint32_t c = 0; t->shared && c < t->classes; c++)
		if (t->of_class[c].sums && t->of_class[c].lo == c)
			ls_fm_big_free(t->of_class[c].sums, part_bytes(t->m, &t->of_class[c]));
	free(t->home);
	ls_online_front_free(&t->front);
}

/* --- spreading --- */

struct move {
	struct ls_online_table *t;
	bool spread;
};

/* From a copy of the records of n features to their spread lines, or from these into the copy. */
static void move_records(const struct move *a, uint64_t first, uint64_t n, float *records)
{
	const struct ls_online_table *t = a->t;
	uint32_t line = ls_online_line(t->m->padded);
	for (uint64_t i = 0; i < n; i++) {
		uint32_t place = (uint32_t)(first + i),
			 home = ls_online_block(ls_online_home(t, place), line);
		for (uint32_t b = 0; b < t->classes; b++) {
			float *copy = records + i * ls_fm_stride(t->m) + (size_t)b * LS_FM_LINE;
			ls_online_copy(
				ls_online_class_line(t, place, ls_online_meet(home, b, t->classes)),
				copy, a->spread);
		}
	}
}

static void move_groups(void *context, int thread, int threads)
{
	const struct move *a = context;
	const struct ls_fm_model *m = a->t->m;
	float *records = ls_xalloc_aligned(sizeof(float) * LS_FM_LINE, sizeof(float) * a->t->group);
	uint64_t lo, hi;
	ls_pool_share((m->n_features + LS_FM_GROUP - 1) / LS_FM_GROUP, thread, threads, &lo, &hi);
	for (uint64_t g = lo; g < hi; g++) {
		uint64_t first = g * LS_FM_GROUP, left = m->n_features - first;
		uint64_t n = left < LS_FM_GROUP ? left : LS_FM_GROUP;
		size_t bytes = sizeof(float) * n * ls_fm_stride(m);
		float *place = m->linear + g * a->t->group;
		if (a->spread)
			memcpy(records, place, bytes);
		move_records(a, first, n, records);
		if (!a->spread)
			memcpy(place, records, bytes);
	}
	free(records);
}

/* Sums from the model to the parts, or back: what they leave is forgotten by forget_sums. */
static void move_sums(void *context, int thread, int threads)
{
	const struct move *a = context;
	const struct ls_online_table *t = a->t;
	uint64_t lo, hi;
	ls_pool_share(t->m->n_features, thread, threads, &lo, &hi);
	for (uint64_t j = lo; j < hi; j++)
		for (uint32_t c = 0; c < t->classes; c++) {
			const struct ls_online_part *p = &t->of_class[c];
			float *kept = t->m->sums + j * t->classes + c,
			      *apart = p->sums + j * p->room + c - p->lo;
			*(a->spread ? apart : kept) = a->spread ? *kept : *apart;
		}
}

static void forget_sums(struct ls_online_table *t, bool spread)
{
	const struct ls_fm_model *m = t->m;
	if (spread)
		ls_fm_big_forget(m->sums, sizeof(float) * m->n_features * m->n_sums);
	for (uint32_t c = 0; c < t->classes && !spread; c++)
		if (t->of_class[c].lo == c)
			ls_fm_big_forget(t->of_class[c].sums, part_bytes(m, &t->of_class[c]));
}

void ls_online_spread(struct ls_online_table *t, struct ls_pool *pool)
{
	ls_online_front_set(&t->front, t->m, pool, true);
	if (t->shared && !t->sums_apart) {
		ls_pool_run(pool, move_sums, &(struct move){t, true});
		forget_sums(t, true);
	}
	t->sums_apart = t->shared;
	if (!t->home || t->is_spread)
		return;
	ls_pool_run(pool, move_groups, &(struct move){t, true});
	t->is_spread = true;
}

void ls_online_gather(struct ls_online_table *t, struct ls_pool *pool)
{
	if (t->is_spread)
		ls_pool_run(pool, move_groups, &(struct move){t, false});
	t->is_spread = false;
	if (t->sums_apart) {
		ls_pool_run(pool, move_sums, &(struct move){t, false});
		forget_sums(t, false);
	}
	t->sums_apart = false;
	ls_online_front_set(&t->front, t->m, pool, false);
}
