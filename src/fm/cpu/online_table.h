/* Where the lines of a model lie while threads train it a row at a time.
 *
 * The factors of a row are a matrix, entry by field: in each of its features a class
 * (online_classes.h) has one line of factors, and one sum of squares. Each thread has some
 * neighbouring classes, and their sums of all features.
 *
 * In a model as others see it (model.h) a feature's lines are side by side, so neighbours of one
 * thread's lines are another's. On x86-64 the hardware fetches what lies beside what is used, and
 * lines are carried to and fro: two threads of a Xeon were slower than one. There lines are spread:
 * LS_FM_GROUP features share the memory of their records, where each thread's part of all of them
 * is one run of whole pages. In it a feature has its lines of factors by class. Nothing is copied
 * elsewhere; ls_online_gather puts all lines back. (On a Neoverse-N1 spreading gains nothing, and
 * costs a sixth.)
 *
 * Which class a line belongs to depends on the feature's field. A feature has a home, the field
 * that it was first seen in, and its lines are spread as if it were always there. In most data it
 * is; where features are hashed into one range some are not, and a thread that meets one elsewhere
 * works on a copy of its lines.
 *
 * Belongs to online.c; the kernels borrow it. Spread and gather run on all threads of the pool. */
#ifndef LS_FM_CPU_ONLINE_TABLE_H
#define LS_FM_CPU_ONLINE_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/pool.h"
#include "fm/cpu/online_front.h"
#include "fm/data/rows.h"
#include "fm/model/model.h"
#include "fm/model/online_classes.h"

enum {
	LS_ONLINE_CLASSES = 64,               /* the most that threads share out; */
	LS_ONLINE_FIELDS = 255,               /* the most fields; */
	LS_ONLINE_NO_HOME = LS_ONLINE_FIELDS, /* so this is not one */
};

/* Lanes in which a class adds up its pairs: those of the fields of a block. */
static inline uint32_t ls_online_lanes(uint32_t padded)
{
	return ls_online_line(padded) * padded;
}

/* A thread's classes, lo .. lo + n; in floats, where its part of a group begins, and what it has of
 * each feature; and sums of squares: of each place `room`, of which the first n are used. */
struct ls_online_part {
	uint32_t lo, n, each, room;
	size_t start;
	float *sums;
};

struct ls_online_table {
	struct ls_fm_model *m;
	struct ls_online_front front;
	uint32_t group; /* floats of a group, if threads can share the model out */
	uint32_t classes;
	bool shared;                                       /* threads can share the model out */
	struct ls_online_part of_class[LS_ONLINE_CLASSES]; /* whose part a class is in */
	bool sums_apart;       /* the parts have the sums, not the model */
	_Atomic uint8_t *home; /* by place; NULL: lines are never spread */
	bool is_spread;
};

/* Factors of a feature for a field, or its linear weights, and how many floats further their state
 * is, if it is beside them. */
struct ls_online_at {
	float *v;
	size_t state;
};

/* Where a part of the record at a place begins; base is the model's memory, group the floats of a
 * group. (Products of 32 bits by 32: a Neoverse-N1 starts one a cycle, and of 64 by 64 one in
 * three.) */
static inline float *ls_online_lines(float *base, uint32_t group, struct ls_online_part p,
				     uint32_t place)
{
	return base + p.start + (uint64_t)(place / LS_FM_GROUP) * group +
	       (uint64_t)(place % LS_FM_GROUP) * p.each;
}

/* Where among the lanes of all classes a pair of fields is added up: the second's place in its
 * block says. */
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
static inline float *ls_online_class_line(const struct ls_online_table *t, uint32_t place,
					  uint32_t class)
{
	struct ls_online_part p = t->of_class[class];
	return ls_online_lines(t->m->linear, t->group, p, place) +
	       (size_t)(class - p.lo) * LS_FM_LINE;
}

static inline float *ls_online_slot(const struct ls_online_table *t, uint32_t place, uint32_t slot)
{
	uint32_t padded = t->m->padded, line = ls_online_line(padded);
	uint32_t home = ls_online_block(ls_online_home(t, place), line);
	return ls_online_class_line(t, place, ls_online_meet(home, slot / line, t->classes)) +
	       slot % line * padded;
}

/* A line, from where it is kept to a copy, or back. */
static inline void ls_online_copy(float *kept, float *copy, bool back)
{
	memcpy(back ? kept : copy, back ? copy : kept, sizeof(float) * LS_FM_LINE);
}

/* What a sum of squares takes of what the squares of a block's gradients add up to: their mean, if
 * its fields fill a line. */
static inline float ls_online_part_of_squares(const struct ls_fm_model *m)
{
	return 1.0f / (float)(ls_online_line(m->padded) * m->opts.factors);
}

/* Where the sum of squares of a class is, of an output. */
static inline float *ls_online_sum(const struct ls_online_table *t, uint32_t place, uint32_t output,
				   uint32_t class)
{
	const struct ls_fm_model *m = t->m;
	if (!t->sums_apart)
		return m->sums + (size_t)place * m->n_sums + (size_t)output * t->classes + class;
	const struct ls_online_part *p = &t->of_class[class];
	return p->sums + (size_t)place * p->room + class - p->lo;
}

/* These find them wherever lines are. */
static inline struct ls_online_at ls_online_factors(const struct ls_online_table *t, uint32_t place,
						    uint32_t output, uint32_t field)
{
	const struct ls_fm_model *m = t->m;
	size_t at = (size_t)output * m->n_fields + field;
	if (t->is_spread)
		return (struct ls_online_at){ls_online_slot(t, place, field + 1), 0};
	return (struct ls_online_at){m->record + place * ls_fm_stride(m) + at * m->padded,
				     m->width};
}

static inline struct ls_online_at ls_online_weights(const struct ls_online_table *t, uint32_t place)
{
	const struct ls_fm_model *m = t->m;
	float *v = t->is_spread ? ls_online_slot(t, place, 0) : m->linear + place * ls_fm_stride(m);
	return (struct ls_online_at){v, m->outputs};
}

/* Whether threads share models out, and whether lines are spread there; tests set them before they
 * start. */
extern bool ls_online_shares, ls_online_spreads;

/* Finds the features that come to the front, and homes if lines are to be spread. */
int ls_online_table_init(struct ls_online_table *t, struct ls_fm_model *m,
			 const struct ls_rows *rows, struct ls_pool *pool, struct ls_err *err);
void ls_online_table_free(struct ls_online_table *t);
/* Records to the front, then sums and lines apart; or back. Both do nothing where there is nothing
 * to do. */
void ls_online_spread(struct ls_online_table *t, struct ls_pool *pool);
void ls_online_gather(struct ls_online_table *t, struct ls_pool *pool);

#endif
