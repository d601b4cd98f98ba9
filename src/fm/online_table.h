/* Where the lines of a model lie while threads train it a row at a time.
 *
 * The factors of a row are a matrix, entry by field. Fields come in blocks of as many as fill a cache line, and blocks
 * a and b meet in class (a + b) mod blocks: in each of its features a class has one line of factors and one of state.
 * Each thread has some neighbouring classes.
 *
 * In a model as others see it (model.h) a feature's lines are side by side, so neighbours of one thread's lines are
 * another's. On x86-64 the hardware fetches what lies beside what is used, and lines are carried to and fro: two
 * threads of a Xeon were slower than one. There lines are spread: LS_FM_GROUP features share the memory of their
 * records, where each thread's part of all of them is one run of whole pages. In it a feature has its lines of factors
 * by class, then those of state. Nothing is copied elsewhere; ls_online_gather puts all lines back. (On a Neoverse-N1
 * spreading gains nothing, and costs a sixth.)
 *
 * Which class a line belongs to depends on the feature's field. A feature has a home, the field that it was first seen
 * in, and its lines are spread as if it were always there. In most data it is; where features are hashed into one range
 * some are not, and a thread that meets one elsewhere works on a copy of its lines.
 *
 * Belongs to online.c; the kernels borrow it. Spread and gather run on all threads of the pool. */
#ifndef LS_FM_ONLINE_TABLE_H
#define LS_FM_ONLINE_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/pool.h"
#include "fm/model.h"
#include "fm/online_front.h"
#include "fm/rows.h"

enum {
	LS_ONLINE_CLASSES = 64,               /* the most that threads share out; */
	LS_ONLINE_FIELDS = 255,               /* the most fields; */
	LS_ONLINE_NO_HOME = LS_ONLINE_FIELDS, /* so this is not one */
};

/* Fields that a cache line has room for; the block of a field, where the linear weights are before field 0, and the
 * first field of a block; blocks, which are as many as classes; the class in which two blocks meet, and two fields. */
static inline uint32_t ls_online_line(uint32_t padded)
{
	return padded < LS_FM_LINE ? LS_FM_LINE / padded : 1;
}

static inline uint32_t ls_online_block(uint32_t field, uint32_t line)
{
	return (field + 1) / line;
}

static inline uint32_t ls_online_first(uint32_t block, uint32_t line)
{
	return block ? block * line - 1 : 0;
}

static inline uint32_t ls_online_classes(uint32_t fields, uint32_t padded)
{
	return ls_online_block(fields - 1, ls_online_line(padded)) + 1;
}

static inline uint32_t ls_online_meet(uint32_t a, uint32_t b, uint32_t classes)
{
	return a + b < classes ? a + b : a + b - classes;
}

static inline uint32_t ls_online_class(uint32_t f, uint32_t g, uint32_t line, uint32_t classes)
{
	return ls_online_meet(ls_online_block(f, line), ls_online_block(g, line), classes);
}

/* Lanes in which a class adds up its pairs: those of the fields of a block. */
static inline uint32_t ls_online_lanes(uint32_t padded)
{
	return ls_online_line(padded) * padded;
}

/* A thread's classes, lo .. lo + n, and in floats: where its part of a group begins, what it has of each feature, and
 * how far it is from factors to their state. */
struct ls_online_part {
	uint32_t lo, n, each;
	size_t start, state;
};

struct ls_online_table {
	struct ls_fm_model *m;
	struct ls_online_front front;
	uint32_t group; /* floats of a group, if threads can share the model out */
	uint32_t classes;
	bool shared;                                       /* threads can share the model out */
	struct ls_online_part of_class[LS_ONLINE_CLASSES]; /* whose part a class is in */
	_Atomic uint8_t *home;                             /* by place; NULL: lines are never spread */
	bool is_spread;
};

/* Factors of a feature for a field, or its linear weights, and how many floats further their state is. */
struct ls_online_at {
	float *v;
	size_t state;
};

/* Where a part of the record at a place begins; base is the model's memory, group the floats of a group. (Products of
 * 32 bits by 32: a Neoverse-N1 starts one a cycle, and of 64 by 64 one in three.) */
static inline float *ls_online_lines(float *base, uint32_t group, struct ls_online_part p, uint32_t place)
{
	return base + p.start + (uint64_t)(place / LS_FM_GROUP) * group + (uint64_t)(place % LS_FM_GROUP) * p.each;
}

/* Where among the lanes of all classes a pair of fields is added up: the second's place in its block says. */
static inline size_t ls_online_lane(const struct ls_online_table *t, uint32_t f, uint32_t g)
{
	uint32_t padded = t->m->padded, line = ls_online_line(padded);
	return ((size_t)ls_online_class(f, g, line, t->classes) * line + (g + 1) % line) * padded;
}

static inline uint32_t ls_online_home(const struct ls_online_table *t, uint32_t place)
{
	return atomic_load_explicit(&t->home[place], memory_order_relaxed);
}

/* Its line of a class. */
static inline struct ls_online_at ls_online_class_line(const struct ls_online_table *t, uint32_t place, uint32_t class)
{
	struct ls_online_part p = t->of_class[class];
	float *v = ls_online_lines(t->m->linear, t->group, p, place) + (size_t)(class - p.lo) * LS_FM_LINE;
	return (struct ls_online_at){v, p.state};
}

static inline struct ls_online_at ls_online_slot(const struct ls_online_table *t, uint32_t place, uint32_t slot)
{
	uint32_t padded = t->m->padded, line = ls_online_line(padded);
	uint32_t home = ls_online_block(ls_online_home(t, place), line);
	struct ls_online_at at = ls_online_class_line(t, place, ls_online_meet(home, slot / line, t->classes));
	at.v += slot % line * padded;
	return at;
}

/* A line and its state, from where it is kept to a copy, or back. */
static inline void ls_online_copy(struct ls_online_at kept, struct ls_online_at copy, bool back)
{
	struct ls_online_at from = back ? copy : kept, to = back ? kept : copy;
	memcpy(to.v, from.v, sizeof(float) * LS_FM_LINE);
	memcpy(to.v + to.state, from.v + from.state, sizeof(float) * LS_FM_LINE);
}

/* These find them wherever lines are. */
static inline struct ls_online_at ls_online_factors(const struct ls_online_table *t, uint32_t place, uint32_t output,
						    uint32_t field)
{
	const struct ls_fm_model *m = t->m;
	size_t at = (size_t)output * m->n_fields + field;
	if (t->is_spread)
		return ls_online_slot(t, place, field + 1);
	return (struct ls_online_at){m->record + place * ls_fm_stride(m) + at * m->padded, m->width};
}

static inline struct ls_online_at ls_online_weights(const struct ls_online_table *t, uint32_t place)
{
	const struct ls_fm_model *m = t->m;
	float *v = t->is_spread ? ls_online_slot(t, place, 0).v : m->linear + place * ls_fm_stride(m);
	return (struct ls_online_at){v, m->outputs};
}

/* Whether lines are spread where threads share a model out; tests set it before they start. */
extern bool ls_online_spreads;

/* Finds the features that come to the front, and homes if lines are to be spread. */
int ls_online_table_init(struct ls_online_table *t, struct ls_fm_model *m, const struct ls_rows *rows,
			 struct ls_pool *pool, struct ls_err *err);
void ls_online_table_free(struct ls_online_table *t);
/* Records to the front, then lines apart; or back. Both do nothing where there is nothing to do. */
void ls_online_spread(struct ls_online_table *t, struct ls_pool *pool);
void ls_online_gather(struct ls_online_table *t, struct ls_pool *pool);

#endif
