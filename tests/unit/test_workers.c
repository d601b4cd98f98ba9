/* How work is shared out: processors, parts by speed, barriers in halves, the sort that
 * all workers do together. labels: threads long */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/balance.h"
#include "base/cpus.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/pool.h"
#include "fm/cpu/cpu.h"
#include "fm/cpu/next_batch.h"
#include "fm/cpu/sort.h"
#include "fm/model/batch.h"
#include "models.h"
#include "num/philox.h"

/* --- processors --- */

static void write_at(const char *root, const char *path, const char *text)
{
	char full[512];
	snprintf(full, sizeof full, "%s%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(full, 0777);
	}
	FILE *f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void remove_tree(const char *root)
{
	char command[64];
	snprintf(command, sizeof command, "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

struct group_case {
	const char *group, *file,
		/* /proc/self/cgroup, and a file that is written, after those before it */
		*text;
	uint64_t want; /* 0: no limit */
};

static uint64_t cpus_of(const char *root)
{
	return (uint64_t)ls_cpus_limit(root);
}

static uint64_t memory_of(const char *root)
{
	uint64_t most = ls_memory_most(root);
	return most == ls_memory_most("/nowhere") ? 0 : most;
}

static void ask_groups(const struct group_case *cases, size_t n, uint64_t (*ask)(const char *root))
{
	char root[] = "/tmp/ls-groups-XXXXXX";
	assert_non_null(mkdtemp(root));
	assert_int_equal(ask(root), 0); /* no groups at all */
	for (size_t i = 0; i < n; i++) {
		write_at(root, "/proc/self/cgroup", cases[i].group);
		write_at(root, cases[i].file, cases[i].text);
		assert_int_equal(ask(root), cases[i].want);
	}
	remove_tree(root);
}

static void a_groups_limit_counts(void **state)
{
	(void)state;
	static const struct group_case cpus[] = {
		{"0::/a/b\n", "/sys/fs/cgroup/a/b/cpu.max", "250000 100000\n", 2},
		{"0::/a/b\n", "/sys/fs/cgroup/a/cpu.max", "350000 100000\n",
		 2}, /* the one above is larger */
		{"0::/a/b\n", "/sys/fs/cgroup/cpu.max", "50000 100000\n", 1},
		{"0::/\n", "/sys/fs/cgroup/cpu.max", "max 100000\n", 0},
		{"0::/\n", "/sys/fs/cgroup/cpu.max", "800000 100000\n", 8},
		{"0::/\n", "/sys/fs/cgroup/cpu.max", "", 0},
		{"0::/\n", "/sys/fs/cgroup/cpu.max", "nonsense\n", 0},
		{"0::/\n", "/sys/fs/cgroup/cpu.max", "100000 0\n", 0},
		{"nonsense\n", "/sys/fs/cgroup/cpu.max", "100000 100000\n", 0},
		{"3:cpu,cpuacct:/c\n", "/sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n", 0},
		{"3:cpuacct,cpu:/c\n", "/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "300000\n", 3},
		{"3:cpu:/c\n", "/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "-1\n", 0},
		{"3:cpu:/c\n0::/\n", "/sys/fs/cgroup/cpu.max", "100000 100000\n",
		 1}, /* both are asked */
		{"3:cpuset:/c\n", "/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "100000\n", 0},
	};
	static const struct group_case memory[] = {
		{"0::/a/b\n", "/sys/fs/cgroup/a/b/memory.max", "max\n", 0},
		{"0::/a/b\n", "/sys/fs/cgroup/a/memory.max", "3000000\n", 3000000},
		{"0::/a/b\n", "/sys/fs/cgroup/a/b/memory.max", "2000000\n", 2000000},
		{"0::/\n", "/sys/fs/cgroup/memory.max", "nonsense\n", 0},
		{"3:cpu:/c\n", "/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "1000\n", 0},
		{"3:memory:/c\n", "/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "1000\n", 1000},
		{"3:memory:/c\n", "/sys/fs/cgroup/memory/c/memory.limit_in_bytes",
		 "9223372036854771712\n", 0},
	};
	ask_groups(cpus, sizeof cpus / sizeof *cpus, cpus_of);
	ask_groups(memory, sizeof memory / sizeof *memory, memory_of);
}

/* Where the system's groups have a say, and where they have none. */
static void the_machines_limits(void **state)
{
	(void)state;
	char root[] = "/tmp/ls-groups-XXXXXX";
	assert_non_null(mkdtemp(root));
	write_at(root, "/proc/self/cgroup", "0::/\n");
	write_at(root, "/sys/fs/cgroup/cpu.max", "100000 100000\n");
	assert_int_equal(ls_cpus_at(root), 1);
	remove_tree(root);
	assert_int_equal(ls_cpus(), ls_cpus_at(""));
	uint64_t all = ls_memory_most("/nowhere");
	assert_true(all > 1 << 24 && all < UINT64_MAX);
	assert_true(ls_memory_most("") <= all);
}

/* As after `taskset -c N`. */
static void affinity_counts(void **state)
{
	(void)state;
	cpu_set_t all, one;
	size_t cpu = 0;
	int status;
	assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	pid_t child = fork();
	if (child == 0)
		_exit(sched_setaffinity(0, sizeof one, &one) == 0 && ls_cpus_at("/nowhere") == 1
			      ? 0
			      : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(ls_cpus_at("/nowhere"), CPU_COUNT(&all));
}

/* --- parts --- */

static void equal_times_leave_equal_parts(void **state)
{
	(void)state;
	struct ls_balance s;
	ls_balance_init(&s, 4);
	ls_balance_adjust(&s, (const double[]){3.0, 3.0, 3.0, 3.0});
	for (int w = 0; w <= 4; w++)
		assert_int_equal(ls_balance_begin(&s, 1000, w), 250 * w);
	/* a time that cannot be */
	ls_balance_adjust(&s, (const double[]){3.0, 0.0, 3.0, 9.0});
	assert_int_equal(ls_balance_begin(&s, 1000, 1), 250);
	ls_balance_free(&s);
}

/* Workers whose speeds are 4, 1, 2 and 1: parts become proportional to them, whatever
 * comes in between. */
static void parts_follow_speeds(void **state)
{
	(void)state;
	const double speed[] = {4.0, 1.0, 2.0, 1.0};
	struct ls_balance s;
	ls_balance_init(&s, 4);
	for (int i = 0; i < 60; i++) {
		double times[4];
		for (int w = 0; w < 4; w++)
			times[w] = (s.begin[w + 1] - s.begin[w]) / speed[w];
		if (i == 20)
			times[0] *= 1000; /* was asleep */
		double before = s.begin[1];
		ls_balance_adjust(&s, times);
		assert_true(s.begin[1] > before * 0.875 / 1.125);
		assert_true(s.begin[0] == 0.0 && s.begin[4] == 1.0);
		for (int w = 0; w < 4; w++)
			assert_true(s.begin[w] < s.begin[w + 1]);
	}
	assert_int_equal(ls_balance_begin(&s, 800, 1), 399);
	assert_int_equal(ls_balance_begin(&s, 800, 2), 499);
	assert_int_equal(ls_balance_begin(&s, 800, 3), 699);
	assert_int_equal(ls_balance_begin(&s, 800, 4), 800);
	ls_balance_free(&s);
}

/* A worker that was stopped for long has something left to show its speed with. */
static void no_part_is_lost_for_ever(void **state)
{
	(void)state;
	struct ls_balance s;
	ls_balance_init(&s, 4);
	for (int i = 0; i < 300; i++)
		ls_balance_adjust(&s, (const double[]){1e6, 1.0, 1.0, 1.0});
	assert_true(s.begin[1] > 1.0 / 300 && s.begin[1] < 1.0 / 200);
	ls_balance_free(&s);
}

/* --- a barrier in halves --- */

enum { TURNS = 2000 };

struct turns {
	struct ls_pool *pool;
	_Atomic int arrived[TURNS];
	_Atomic int early;
};

static void take_turns(void *context, int thread, int threads)
{
	struct turns *t = context;
	for (int i = 0; i < TURNS; i++) {
		atomic_fetch_add(&t->arrived[i], 1);
		uint32_t phase = ls_pool_arrive(t->pool);
		if (i % threads == thread)
			usleep(1); /* others wait for nobody who has arrived */
		ls_pool_leave(t->pool, phase);
		if (atomic_load(&t->arrived[i]) != threads)
			atomic_fetch_add(&t->early, 1);
	}
}

static void nobody_leaves_before_all_have_arrived(void **state)
{
	(void)state;
	for (int threads = 1; threads <= 5; threads += 2) {
		struct turns *t = ls_xalloc(sizeof *t);
		assert_int_equal(ls_pool_new(threads, &t->pool, NULL), 0);
		ls_pool_run(t->pool, take_turns, t);
		assert_int_equal(atomic_load(&t->early), 0);
		ls_pool_free(t->pool);
		free(t);
	}
}

/* --- rows and their sort --- */

/* A batch has a row more than a power of 2, whose number needs a bit more. */
enum { MADE = 400, MADE_BATCH = 257, MADE_LONG = 8 };

/* Rows of 0 to 8 entries over n_features, of which a few are frequent; every eighth has
 * all, with the last feature. */
struct made {
	uint64_t start[MADE + 1];
	uint32_t feature[MADE * MADE_LONG];
	float label[MADE];
	struct ls_rows rows;
};

static void make_rows(struct made *m, uint64_t n_features)
{
	uint64_t at = 0;
	for (uint32_t r = 0; r < MADE; r++) {
		struct ls_u32x4 x = ls_philox(7, r, n_features);
		m->start[r] = at;
		m->label[r] = (float)r;
		for (uint32_t i = 0; i < (r % 8 ? x.v[0] % MADE_LONG : MADE_LONG); i++, at++) {
			struct ls_u32x4 y = ls_philox(8, r, i);
			m->feature[at] =
				(uint32_t)((y.v[0] % 3 ? y.v[1] : y.v[1] % 5) % n_features);
		}
		if (r % 8 == 0)
			m->feature[at - 1] = (uint32_t)(n_features - 1);
	}
	m->start[MADE] = at;
	m->rows = (struct ls_rows){.n_rows = MADE,
				   .n_entries = at,
				   .n_features = n_features,
				   .start = m->start,
				   .feature = m->feature,
				   .label = m->label};
}

/* The features of row b of a batch, which are behind those of the worker's rows before
 * it. */
static void check_row(const struct made *m, const struct ls_row_place *at, const uint32_t *feature)
{
	assert_int_equal(at->first, m->start[at->row]);
	assert_int_equal(at->n, m->start[at->row + 1] - at->first);
	assert_true(at->label == m->label[at->row]);
	assert_memory_equal(feature, m->feature + at->first, at->n * sizeof *feature);
}

/* What all workers together get from the sort of a batch: each feature in one run, each
 * key once. */
static void check_keys(const struct made *m, const uint64_t *keys, size_t n, bool by_row,
		       const struct ls_next_batch *a, uint8_t *feature_seen, uint32_t *key_seen)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t feature = (uint32_t)(keys[i] >> 32), number = (uint32_t)keys[i];
		if (i == 0 || keys[i - 1] >> 32 != feature)
			assert_int_equal(feature_seen[feature]++, 0);
		if (by_row) {
			const struct ls_row_place *at = &a->place[number];
			uint32_t there = 0;
			for (uint32_t e = 0; e < at->n; e++)
				there += m->feature[at->first + e] == feature;
			assert_true(there > 0);
			key_seen[number]++;
		} else {
			assert_int_equal(a->feature[number], feature);
			assert_int_equal(key_seen[number]++, 0);
		}
	}
}

static void sort_batch(const struct made *m, uint64_t n_features, int threads, bool by_row,
		       const struct ls_balance *shares, uint64_t batch)
{
	struct ls_fm_opts o = ls_fm_defaults(LS_FM, LS_BINARY, LS_SGD);
	o.batch = MADE_BATCH;
	struct ls_order order = ls_fm_order(&o, MADE, batch);
	struct ls_next_batch a;
	struct ls_sort s;
	uint8_t *feature_seen = ls_xalloc(n_features);
	uint32_t *key_seen = ls_xalloc(MADE_BATCH * MADE_LONG * sizeof *key_seen);
	assert_true(ls_next_batch_init(&a, MADE_BATCH, MADE_LONG));
	size_t entries = MADE_BATCH * MADE_LONG;
	assert_true(ls_sort_init(&s, (uint32_t)threads, n_features, by_row ? MADE_BATCH : entries,
				 entries));
	if (batch % 2)
		ls_sort_weigh(&s, &m->rows);
	size_t n_all = 0, n_sorted = 0;
	for (int t = 0; t < threads; t++) {
		struct ls_sort_rows r = {.lo = (uint32_t)ls_balance_begin(shares, order.n, t),
					 .hi = (uint32_t)ls_balance_begin(shares, order.n, t + 1)};
		r.entry = r.lo * MADE_LONG;
		struct ls_next_batch own = {.longest = MADE_LONG,
					    .place = a.place + r.lo,
					    .feature = a.feature + r.entry};
		r.place = by_row ? own.place : NULL;
		r.feature = own.feature;
		r.n_entries = ls_next_batch_find(&own, &m->rows, &order, r.lo, r.hi);
		const uint32_t *feature = r.feature;
		for (uint32_t b = r.lo; b < r.hi; feature += a.place[b++].n)
			check_row(m, &a.place[b], feature);
		assert_int_equal(feature - r.feature, r.n_entries);
		n_all += r.n_entries;
		ls_sort_first(&s, batch, t, &r);
	}
	for (int t = 0; t < threads; t++) {
		struct ls_sort_part part = ls_sort_part(&s, shares, t);
		size_t n, before;
		const uint64_t *keys = ls_sort_rest(&s, batch, &part, &n, &before);
		assert_int_equal(before, n_sorted);
		n_sorted += n;
		check_keys(m, keys, n, by_row, &a, feature_seen, key_seen);
	}
	assert_int_equal(n_sorted, n_all);
	for (uint32_t b = 0; b < order.n && by_row; b++)
		assert_int_equal(key_seen[b], a.place[b].n);
	ls_sort_free(&s);
	ls_next_batch_free(&a);
	free(feature_seen);
	free(key_seen);
}

/* Two and three passes, few workers and many, parts of any size; keys of rows have 9 bits
 * for the row, those of entries 12: with the feature's less than 32, exactly 32, 33 and
 * more. */
static void workers_sort_all_entries_once(void **state)
{
	(void)state;
	static const uint64_t features[] = {1,       5,       1000,          1 << 20, 1 << 21,
					    1 << 22, 1 << 23, (1 << 23) + 1, 1 << 24};
	static const int threads[] = {1, 2, 3, 8, 17};
	struct made *m = ls_xalloc(sizeof *m);
	for (size_t f = 0; f < sizeof features / sizeof *features; f++)
		for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
			struct ls_balance shares;
			ls_balance_init(&shares, threads[t]);
			make_rows(m, features[f]);
			for (uint64_t batch = 0; batch < 3;
			     batch++) { /* whole, rest, whole of the next epoch */
				sort_batch(m, features[f], threads[t], true, &shares, batch);
				sort_batch(m, features[f], threads[t], false, &shares, batch);
				for (int w = 1; w < threads[t];
				     w++) /* smaller and smaller parts; some are empty */
					shares.begin[w] *= (double)w / threads[t];
			}
			ls_balance_free(&shares);
		}
	free(m);
}

/* All entries have one of the lowest digits 0 to 9: unknown, they are all in the first of
 * four parts; known, they are half of the work, and so in the first two. */
static void parts_are_of_equal_work(void **state)
{
	(void)state;
	struct made *m = ls_xalloc(sizeof *m);
	struct ls_balance shares;
	struct ls_sort s;
	ls_balance_init(&shares, 4);
	make_rows(m, 1 << 20);
	for (uint64_t e = 0; e < m->rows.n_entries; e++)
		m->feature[e] = m->feature[e] >> 10 << 10 | (uint32_t)(e % 10);
	assert_true(ls_sort_init(&s, 4, 1 << 20, MADE_BATCH, MADE_BATCH * MADE_LONG));
	for (int t = 0; t < 4; t++) {
		struct ls_sort_part part = ls_sort_part(&s, &shares, t);
		assert_true(part.lo == 256u * (uint32_t)t && part.hi == 256u * ((uint32_t)t + 1));
	}
	for (int i = 0; i < 2; i++) {
		ls_sort_weigh(&s, &m->rows);
		assert_int_equal(ls_sort_part(&s, &shares, 0).lo, 0);
		assert_in_range(ls_sort_part(&s, &shares, 0).hi, 4, 6);
		assert_int_equal(ls_sort_part(&s, &shares, 1).lo, ls_sort_part(&s, &shares, 0).hi);
		assert_in_range(ls_sort_part(&s, &shares, 1).hi, 8, 20);
		assert_in_range(ls_sort_part(&s, &shares, 3).lo, 500, 530);
		assert_int_equal(ls_sort_part(&s, &shares, 3).hi, 1024);
		/* as if of many: every third row is looked at */
		m->rows.n_entries = 1 << 18;
	}
	ls_sort_free(&s);
	ls_balance_free(&shares);
	free(m);
}

/* --- training --- */

enum { LONG = 60, BATCH = 24, ROWS = 10 * BATCH };

/* The first rows of each batch are long, the others short, so that parts of equal numbers
 * of rows are not equal work; and every second batch has a sixth of the entries. */
struct uneven {
	uint64_t start[ROWS + 1];
	uint32_t feature[ROWS * LONG];
	uint16_t field[ROWS * LONG];
	float label[ROWS];
	struct ls_rows rows;
};

static void make_uneven(struct uneven *u)
{
	uint64_t at = 0;
	for (uint32_t r = 0; r < ROWS; r++) {
		u->start[r] = at;
		u->label[r] = (float)(r % 3 == 0);
		uint32_t longer = r / BATCH % 2 ? 7 : LONG;
		for (uint32_t i = 0; i < (r % BATCH < BATCH / 4 ? longer : 1); i++, at++) {
			u->feature[at] = ls_philox(9, r, i).v[0] % 500 + 500 * i;
			u->field[at] = (uint16_t)(i % 3);
		}
	}
	u->start[ROWS] = at;
	u->rows = (struct ls_rows){.n_rows = ROWS,
				   .n_entries = at,
				   .n_features = 500 * LONG,
				   .n_fields = 3,
				   .start = u->start,
				   .feature = u->feature,
				   .field = u->field,
				   .label = u->label};
}

static struct ls_fm_opts uneven_opts(enum ls_fm_kind kind, uint32_t factors)
{
	struct ls_fm_opts o = ls_fm_defaults(kind, LS_BINARY, LS_ADAGRAD);
	o.factors = factors;
	o.batch = BATCH;
	o.shuffle = LS_SHUFFLE_NONE;
	return o;
}

/* All parameters after so many steps, so many a call: parts are adjusted every 16, within
 * a call and across two, and a call's last has none to prepare. */
static struct ls_fm_model *trained(const struct uneven *u, enum ls_fm_kind kind, uint32_t factors,
				   int threads, uint64_t steps, uint64_t each, double *ret_loss)
{
	struct ls_fm_opts o = uneven_opts(kind, factors);
	struct ls_pool *pool;
	struct ls_fm_model *m;
	struct ls_cpu *cpu;
	struct ls_err err;
	assert_int_equal(ls_pool_new(threads, &pool, &err), 0);
	assert_int_equal(ls_fm_model_new(&o, u->rows.n_features, kind == LS_FM ? 0 : 3, &m, &err),
			 0);
	ls_fm_model_init(m, pool);
	assert_int_equal(ls_cpu_new(m, &u->rows, pool, NULL, &cpu, &err), 0);
	ls_cpu_hold(cpu, threads);
	*ret_loss = 0.0;
	for (uint64_t step = 0; step < steps; step += each)
		assert_int_equal(ls_cpu_steps(cpu, step, each, ret_loss, &err), 0);
	for (int i = 0; i < 2 && threads > 1 && each > 1;
	     i++) /* parts are no longer what they were at first */
		assert_true(ls_cpu_shares(cpu, i)->begin[1] != 1.0 / threads);
	ls_cpu_free(cpu);
	ls_pool_free(pool);
	return m;
}

static void parts_do_not_reach_the_bytes(void **state)
{
	(void)state;
	static const struct {
		enum ls_fm_kind kind;
		uint32_t factors;
	} models[] = {{LS_FM, 8},  {LS_FM, 16}, {LS_FM, 3},   {LS_FM, 30},
		      {LS_FM, 50}, {LS_FFM, 8}, {LS_FWFM, 8}, {LS_FWFM, 16}};
	struct uneven *u = ls_xalloc(sizeof *u);
	make_uneven(u);
	for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
		enum ls_fm_kind kind = models[k].kind;
		double want_loss, loss;
		struct ls_fm_model *want =
			trained(u, kind, models[k].factors, 1, 60, 1, &want_loss);
		/* 2, 5, 9 */
		for (int threads = 2; threads <= 9; threads += threads == 2 ? 3 : 4) {
			struct ls_fm_model *m =
				trained(u, kind, models[k].factors, threads, 60, 30, &loss);
			assert_true(loss == want_loss);
			assert_same_model(m, want);
			ls_fm_model_free(m);
		}
		ls_fm_model_free(want);
	}
	free(u);
}

enum { CLASSES = 20, CLASSED = 4000, IN_ROW = 5, FEATURES = 50 };

/* Terms of all rows pay with one worker and two, for each then has two entries a row and
 * more; of 30 factors they have room with one. */
static struct ls_fm_model *classed(const struct ls_rows *rows, uint32_t factors, int threads,
				   double *ret_loss)
{
	struct ls_fm_opts o = ls_fm_defaults(LS_FM, LS_MULTICLASS, LS_ADAGRAD);
	struct ls_pool *pool;
	struct ls_fm_model *m;
	struct ls_cpu *cpu;
	struct ls_err err;
	o.classes = CLASSES;
	o.factors = factors;
	o.batch = CLASSED;
	assert_int_equal(ls_pool_new(threads, &pool, &err), 0);
	assert_int_equal(ls_fm_model_new(&o, FEATURES, 0, &m, &err), 0);
	ls_fm_model_init(m, pool);
	assert_int_equal(ls_cpu_new(m, rows, pool, NULL, &cpu, &err), 0);
	assert_int_equal(ls_cpu_terms(cpu), threads <= (factors == 30 ? 1 : 2));
	*ret_loss = 0.0;
	assert_int_equal(ls_cpu_steps(cpu, 0, 2, ret_loss, &err), 0);
	ls_cpu_free(cpu);
	ls_pool_free(pool);
	return m;
}

static void terms_of_rows_do_not_reach_the_bytes(void **state)
{
	(void)state;
	static const uint32_t factors[] = {3, 16, 30};
	uint64_t *start = ls_xalloc((CLASSED + 1) * sizeof *start);
	uint32_t *feature = ls_xalloc(CLASSED * IN_ROW * sizeof *feature);
	float *label = ls_xalloc(CLASSED * sizeof *label);
	for (uint32_t r = 0; r < CLASSED; r++) {
		start[r + 1] = IN_ROW * (r + 1);
		label[r] = (float)(ls_philox(3, r, IN_ROW).v[0] % CLASSES);
		for (uint32_t i = 0; i < IN_ROW; i++)
			feature[r * IN_ROW + i] = ls_philox(3, r, i).v[0] % (FEATURES / IN_ROW) +
						  FEATURES / IN_ROW * i;
	}
	const struct ls_rows rows = {.n_rows = CLASSED,
				     .n_entries = CLASSED * IN_ROW,
				     .n_features = FEATURES,
				     .start = start,
				     .feature = feature,
				     .label = label};
	for (size_t k = 0; k < sizeof factors / sizeof *factors; k++) {
		double want_loss, loss;
		struct ls_fm_model *want = classed(&rows, factors[k], 1, &want_loss);
		for (int threads = 2; threads <= 3; threads++) {
			struct ls_fm_model *m = classed(&rows, factors[k], threads, &loss);
			assert_true(loss == want_loss);
			assert_same_model(m, want);
			ls_fm_model_free(m);
		}
		ls_fm_model_free(want);
	}
	free(start);
	free(feature);
	free(label);
}

/* A step that was not finite leaves columns undone, and must not leave them to the next
 * step. */
static void a_step_that_failed_leaves_nothing(void **state)
{
	enum { STEPS = 12 };
	(void)state;
	struct uneven *u = ls_xalloc(sizeof *u);
	double want_loss, loss;
	struct ls_fm_opts o = uneven_opts(LS_FFM, 8);
	struct ls_pool *pool;
	struct ls_fm_model *m;
	struct ls_cpu *cpu;
	struct ls_err err;
	make_uneven(u);
	struct ls_fm_model *want = trained(u, LS_FFM, 8, 1, STEPS, 1, &want_loss);
	assert_int_equal(ls_pool_new(33, &pool, &err), 0);
	assert_int_equal(ls_fm_model_new(&o, u->rows.n_features, 3, &m, &err), 0);
	assert_int_equal(ls_cpu_new(m, &u->rows, pool, NULL, &cpu, &err), 0);
	for (int i = 0; i < 10; i++) {
		ls_cpu_hold(cpu,
			    /* all of which see a row that is not finite; some then stay
			     * away */
			    33);
		memset(m->linear, 0, m->bytes);
		ls_fm_model_init(m, pool);
		ls_fm_model_start_states(m);
		m->bias[0] = INFINITY;
		assert_int_equal(ls_cpu_steps(cpu, 0, 1, &loss, &err), LS_EDIFFER);
		ls_cpu_hold(cpu, 33 - 3 * i);
		m->bias[0] = 0.0f;
		loss = 0.0;
		assert_int_equal(ls_cpu_steps(cpu, 0, STEPS, &loss, &err), 0);
		assert_true(loss == want_loss);
		assert_same_model(m, want);
	}
	ls_cpu_free(cpu);
	ls_fm_model_free(m);
	ls_fm_model_free(want);
	ls_pool_free(pool);
	free(u);
}

/* Entries are numbered in 32 bits: rows that could have more in a batch are refused
 * before any of them is read. */
static void too_large_a_batch_is_refused(void **state)
{
	(void)state;
	const uint64_t start[] = {0, (uint64_t)1 << 31, ((uint64_t)1 << 31) + 1};
	const float label[2] = {0};
	const struct ls_rows rows = {.n_rows = 2, .n_features = 5, .start = start, .label = label};
	struct ls_fm_opts o = ls_fm_defaults(LS_FM, LS_BINARY, LS_ADAGRAD);
	struct ls_pool *pool;
	struct ls_fm_model *m;
	struct ls_cpu *cpu;
	struct ls_err err;
	assert_int_equal(ls_pool_new(1, &pool, &err), 0);
	assert_int_equal(ls_fm_model_new(&o, 5, 0, &m, &err), 0);
	assert_int_equal(ls_cpu_new(m, &rows, pool, NULL, &cpu, &err), LS_EINPUT);
	assert_string_equal(
		err.msg,
		"a batch of 2 rows with up to 2147483648 entries each is too large; take a smaller "
		"--batch");
	ls_fm_model_free(m);
	ls_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_machines_limits),
		cmocka_unit_test(affinity_counts),
		cmocka_unit_test(a_groups_limit_counts),
		cmocka_unit_test(equal_times_leave_equal_parts),
		cmocka_unit_test(parts_follow_speeds),
		cmocka_unit_test(no_part_is_lost_for_ever),
		cmocka_unit_test(nobody_leaves_before_all_have_arrived),
		cmocka_unit_test(workers_sort_all_entries_once),
		cmocka_unit_test(parts_are_of_equal_work),
		cmocka_unit_test(parts_do_not_reach_the_bytes),
		cmocka_unit_test(terms_of_rows_do_not_reach_the_bytes),
		cmocka_unit_test(a_step_that_failed_leaves_nothing),
		cmocka_unit_test(too_large_a_batch_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
