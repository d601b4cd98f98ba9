/* ffm, a row at a time (--online): every row sees what the row before it has changed, as in the
 * trainers that update without a batch. There is no sum over a batch then, so nothing is on a grid:
 * docs/NUMERICS.md says what is added in which order instead.
 *
 * Each thread has some classes of field pairs (online_table.h): of every feature it reads and
 * writes lines, and sums of squares, that no other thread does. A row then costs one exchange of
 * the classes' parts of its score. AdaGrad has one sum of squares for all factors that a feature
 * has in a class: what a row adds to it is known before the score is, but for the score's slope, so
 * its update is one step a feature and class, and a product and a sum a factor.
 *
 * kern_online.h has the arithmetic, online.c the threads. Everything here belongs to online.c; the
 * kernels borrow it.
 */
#ifndef LS_FM_CPU_ONLINE_H
#define LS_FM_CPU_ONLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "fm/cpu/online_table.h"
#include "fm/data/rows.h"
#include "fm/model/cell.h"
#include "fm/model/model.h"

struct ls_kern;

/* An entry whose feature is away from home: its lines of class c are kept as those of c + turn. */
struct ls_online_away {
	uint8_t entry, turn;
};

struct ls_online_row {
	const uint32_t
		*feature; /* once it is prepared, the places of their records (online_front.h) */
	const uint16_t *field;
	const float *x; /* NULL: every x is 1 */
	uint32_t n;
	float label, weight;
	uint64_t number; /* in the data */
	struct ls_update update;
	uint32_t n_away; /* entries whose features are away from home */
	struct ls_online_away *away;
};

/* Where among n features one is, or n. */
static inline uint32_t ls_online_find(const uint32_t *feature, uint32_t n, uint32_t wanted)
{
	uint32_t i = 0;
	while (i < n && feature[i] != wanted)
		i++;
	return i;
}

/* Nearly all blocks have as many fields as fill a line; block 0 one less, whose place is the linear
 * weights'. */
enum ls_online_blocks {
	LS_ONLINE_FULL,      /* two blocks, both full; */
	LS_ONLINE_ZERO,      /* 0 and a full one; */
	LS_ONLINE_SAME,      /* a full one and itself; */
	LS_ONLINE_SAME_ZERO, /* 0, with all its fields, and itself; */
	LS_ONLINE_ANY
};

/* Blocks a <= b, the class in which they meet, counted from the thread's first, and at which of its
 * lines of a feature of a, and of b. */
struct ls_online_meeting {
	uint8_t a, b, class, line_a, line_b, blocks;
};

/* What a thread does of each row. Meetings are in the order of a, then b. */
struct ls_online_share {
	struct ls_online_part part;
	uint32_t n;
	struct ls_online_meeting *meeting;
	float *copies; /* of lines of features away from home, from a row's forward to its update */
	/* From a row's forward to its update: what its gradients' squares add up to, class by slot
	 * (a field's number plus 1); and what its factors take of others', slot by class. In both
	 * classes are as many as the part has room for. */
	uint32_t slots;
	float *squares, *steps;
};

/* Where a thread's lines of a row's entries begin, by field: found once, if it can be while the row
 * before is done. */
struct ls_online_found {
	float *v[LS_ONLINE_FIELDS];    /* NULL: no entry; the copy's where the feature is away from
					  home */
	float *ask[LS_ONLINE_FIELDS];  /* where a row lacks fields: something to ask for instead of
					  each */
	float **later;                 /* what to ask for before the row: v, or ask */
	float *sums[LS_ONLINE_FIELDS]; /* the thread's, of squares */
};

/* Room for a row that one thread does alone. */
struct ls_online_room {
	float *back;  /* entries × lanes (ls_fm_lanes) */
	float *total; /* classes × lanes (ls_online_lanes) */
	float *sums;  /* lanes: gradients, or what `unit` times makes them (ls_cell_shared_step) */
	float *unit;  /* outputs */
	float *score, *slope; /* outputs, as */
	float *linear;        /* gradients of linear weights */
	float *bias;          /* outputs × (1 + states): the thread's copy */
	uint32_t *entries;    /* by field: the row's; zero between rows */
	bool again;           /* other entries have the feature that is updated, too */
	float loss;
};

struct ls_online;

/* Called by ls_cpu_new. longest: entries of the longest row. */
int ls_online_new(struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool,
		  uint64_t longest, struct ls_online **ret, struct ls_err *err);
/* Leaves the model as ls_online_fetch does. */
void ls_online_free(struct ls_online *o);
/* As ls_cpu_steps, with these kernels, by so many of the pool's threads. Returns the data row that
 * was not finite, or UINT64_MAX. */
uint64_t ls_online_steps(struct ls_online *o, const struct ls_kern *kern, int threads,
			 uint64_t first, uint64_t n, double *loss);
/* As ls_cpu_fetch. */
void ls_online_fetch(struct ls_online *o);

#endif
