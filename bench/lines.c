/* bench-lines DATA KIND K BATCH L1 L2 L3: the bytes a row that come into each of three
 * caches, and go back from it. DATA: rows, as `lockstep fm train` takes them. KIND: fm or
 * ffm, K factors, AdaGrad, one thread. BATCH: rows a step, or 0 for scores alone. L1 L2
 * L3: the caches' sizes, in KiB.
 *
 * A model of caches, not a measurement: 64-byte lines, 4, 8 and 16 ways, the one used
 * least recently goes, lines are brought in to be written, and nothing is fetched that is
 * not used. It is fed with what a step touches, in its order: entries, records and
 * vectors of its rows; keys, written and read; then column by column what is added up,
 * and the records that are updated. Counted over the last third of an epoch's steps, or
 * of the first 200,000 rows. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "fail.h"
#include "fm/data/data.h"
#include "fm/model/batch.h"
#include "fm/model/model.h"

enum { LINE = 64, LEVELS = 3, MOST_ROWS = 200000, IN_A_SCORE = 1024 };

/* --- caches --- */

struct slot {
	uint64_t line; /* + 1; 0: empty */
	uint64_t used;
	bool dirty;
};

struct cache {
	uint64_t sets, ways, clock, in, out;
	struct slot *slots;
};

static struct cache caches[LEVELS];

static void make_cache(struct cache *c, const char *kib, uint64_t ways)
{
	uint64_t bytes = strtoull(kib, NULL, 10) << 10;
	*c = (struct cache){.sets = bytes / LINE / ways, .ways = ways};
	if (c->sets < 1 || bytes > UINT64_C(1) << 32) {
		fprintf(stderr, "a cache of %s KiB is too small or too large\n", kib);
		exit(2);
	}
	c->slots = ls_xalloc(c->sets * ways * sizeof *c->slots);
}

static void use_line(int level, uint64_t line, bool write)
{
	if (level == LEVELS)
		return;
	struct cache *c = &caches[level];
	struct slot *set = c->slots + (line * 0x9E3779B97F4A7C15u >> 40) % c->sets * c->ways,
		    *oldest = set;
	c->clock++;
	for (struct slot *s = set; s < set + c->ways; s++) {
		if (s->line == line + 1) {
			s->used = c->clock;
			s->dirty |= write;
			return;
		}
		oldest = s->used < oldest->used ? s : oldest;
	}
	if (oldest->dirty) {
		c->out++;
		use_line(level + 1, oldest->line - 1, true);
	}
	c->in++;
	use_line(level + 1, line, false);
	*oldest = (struct slot){line + 1, c->clock, write};
}

static void touch(uint64_t address, uint64_t bytes, bool write)
{
	for (uint64_t line = address / LINE; line <= (address + bytes - 1) / LINE; line++)
		use_line(0, line, write);
}

/* --- a step --- */

/* Places that no other is near: where things are that a step keeps. */
enum place { DATA, VECTORS, FIRST_KEYS, KEYS, TERMS, RECORDS };

static uint64_t at(enum place what, uint64_t offset)
{
	return (((uint64_t)what + 1) << 44) + offset;
}

struct key {
	uint32_t feature, from; /* entry of the batch (ffm), or its row */
};

struct training {
	const struct ls_fm_model *m;
	const struct ls_rows *rows;
	bool scores; /* alone */
	struct key *keys;
	uint32_t n_keys;
};

static void record(const struct training *t, uint32_t feature, uint64_t floats, bool write)
{
	touch(at(RECORDS, feature * ls_fm_stride(t->m) * sizeof(float)), floats * sizeof(float),
	      write);
}

static void use_row(struct training *t, uint64_t row, uint32_t place)
{
	const struct ls_fm_model *m = t->m;
	uint64_t first = t->rows->start[row], n = t->rows->start[row + 1] - first;
	bool ffm = m->opts.kind == LS_FFM;
	size_t vector = ls_fm_lanes(m) * sizeof(float);
	touch(at(DATA, first * sizeof(uint32_t)), n * sizeof(uint32_t), false);
	for (uint64_t e = first; e < first + n; e++) {
		record(t, t->rows->feature[e], ls_fm_linear_room(m) + ls_fm_lanes(m), false);
		if (t->scores)
			continue;
		if (ffm)
			touch(at(VECTORS, t->n_keys * vector), vector, true);
		touch(at(FIRST_KEYS, t->n_keys * sizeof(uint32_t)), sizeof(uint32_t), true);
		t->keys[t->n_keys] = (struct key){t->rows->feature[e], ffm ? t->n_keys : place};
		t->n_keys++;
	}
	if (!ffm && !t->scores)
		touch(at(VECTORS, place * vector), vector, true);
}

static int by_feature(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	if (x->feature != y->feature)
		return x->feature < y->feature ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* Terms of an fm are made once a row, integers of 64 bits; those of an ffm are its
 * vectors. */
static void use_columns(struct training *t, uint32_t rows)
{
	const struct ls_fm_model *m = t->m;
	bool ffm = m->opts.kind == LS_FFM;
	size_t vector = ls_fm_lanes(m) * sizeof(float),
	       term = (ls_fm_lanes(m) + 2) * sizeof(int64_t);
	for (uint32_t b = 0; b < rows && !ffm; b++) {
		touch(at(VECTORS, b * vector), vector, false);
		touch(at(TERMS, b * term), term, true);
	}
	for (uint32_t i = 0; i < t->n_keys; i++) {
		touch(at(FIRST_KEYS, i * sizeof(uint32_t)), sizeof(uint32_t), false);
		touch(at(KEYS, i * sizeof *t->keys), sizeof *t->keys, true);
	}
	for (uint32_t i = 0; i < t->n_keys; i++) {
		const struct key *k = &t->keys[i];
		touch(at(KEYS, i * sizeof *k), sizeof *k, false);
		touch(ffm ? at(VECTORS, k->from * vector) : at(TERMS, k->from * term),
		      ffm ? vector : term, false);
		if (i + 1 == t->n_keys || k[1].feature != k->feature)
			record(t, k->feature, ls_fm_stride(m), true);
	}
}

/* Returns how many rows it has. */
static uint32_t use_step(struct training *t, uint64_t step)
{
	struct ls_order order = ls_fm_order(&t->m->opts, t->rows->n_rows, step);
	t->n_keys = 0;
	for (uint32_t b = 0; b < order.n; b++)
		use_row(t, ls_order_row(&order, b), b);
	if (!t->scores) {
		qsort(t->keys, t->n_keys, sizeof *t->keys, by_feature);
		use_columns(t, order.n);
	}
	return order.n;
}

/* --- */

static void count(struct training *t)
{
	uint32_t batch = t->m->opts.batch;
	uint64_t rows = t->rows->n_rows < MOST_ROWS ? t->rows->n_rows : MOST_ROWS;
	uint64_t steps = rows / batch + !(rows / batch), from = steps * 2 / 3;
	struct cache before[LEVELS] = {0};
	double n = 0;
	for (uint64_t s = 0; s < steps; s++) {
		if (s == from)
			memcpy(before, caches, sizeof before);
		uint32_t has = use_step(t, s);
		n += s < from ? 0 : (double)has / LINE;
	}
	for (int i = 0; i < LEVELS; i++)
		printf("%s%.0f (%.0f)", i ? ", " : "", (double)(caches[i].in - before[i].in) / n,
		       (double)(caches[i].out - before[i].out) / n);
	printf(" bytes a row into each cache from behind it (and back)\n");
}

int main(int argc, char **argv)
{
	struct ls_data *d;
	struct ls_fm_model *m;
	struct ls_err err;
	if (argc != 8) {
		fprintf(stderr, "usage: bench-lines DATA fm|ffm K BATCH L1 L2 L3   (sizes in KiB; "
				"BATCH 0: scores)\n");
		return 2;
	}
	bool ffm = strcmp(argv[2], "ffm") == 0;
	uint64_t factors, batch;
	if (!ffm && strcmp(argv[2], "fm") != 0) {
		fprintf(stderr, "\"%s\" is not fm or ffm\n", argv[2]);
		return 2;
	}
	fail_on(ls_str_to_u64(argv[3], 1, LS_FM_MAX_FACTORS, "K", &factors, &err), &err);
	fail_on(ls_str_to_u64(argv[4], 0, LS_FM_MAX_BATCH, "BATCH", &batch, &err), &err);
	fail_on(ls_data_load(argv[1], NULL, &d, &err), &err);
	const struct ls_rows *rows = ls_data_rows(d);
	struct ls_fm_opts o = ls_fm_defaults(ffm ? LS_FFM : LS_FM, LS_BINARY, LS_ADAGRAD);
	o.factors = (uint32_t)factors;
	o.batch = batch ? (uint32_t)batch : IN_A_SCORE;
	bool scores = !batch;
	o.shuffle = scores ? LS_SHUFFLE_NONE : o.shuffle;
	fail_on((scores ? ls_fm_model_new_bare : ls_fm_model_new)(&o, rows->n_features,
								  rows->n_fields, &m, &err),
		&err);
	for (int i = 0; i < LEVELS; i++)
		make_cache(&caches[i], argv[5 + i], UINT64_C(4) << i);
	struct training t = {.m = m, .rows = rows, .scores = scores};
	t.keys = ls_xalloc(rows->n_entries * sizeof *t.keys);
	count(&t);
	for (int i = 0; i < LEVELS; i++)
		free(caches[i].slots);
	free(t.keys);
	ls_fm_model_free(m);
	ls_data_free(d);
	return 0;
}
