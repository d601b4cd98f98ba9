/* ffm, a row at a time (--online): every row sees what the row before it has changed, as in the trainers that update
 * without a batch. There is no sum over a batch then, so nothing is on a grid: docs/NUMERICS.md says what is added in
 * which order instead.
 *
 * The factors of a row are a matrix, entry by field. Fields come in blocks of as many as fill a cache line, blocks a
 * and b meet in class (a + b) mod blocks, and each thread has some neighbouring classes: of every feature it reads and
 * writes the same lines of the record, which no other thread does. A row then costs one exchange of the classes' parts
 * of its score.
 *
 * kern_online.h has the arithmetic, online.c the threads. Everything here belongs to online.c; the kernels borrow it.
 */
#ifndef LS_FM_ONLINE_H
#define LS_FM_ONLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "fm/cell.h"
#include "fm/model.h"
#include "fm/rows.h"

enum {
	LS_ONLINE_CLASSES = 64, /* the most that threads share out; */
	LS_ONLINE_FIELDS = 256  /* and of fields */
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
	return (a + b) % classes;
}

static inline uint32_t ls_online_class(uint32_t f, uint32_t g, uint32_t line, uint32_t classes)
{
	return ls_online_meet(ls_online_block(f, line), ls_online_block(g, line), classes);
}

struct ls_kern;

struct ls_online_row {
	const uint32_t *feature;
	const uint16_t *field;
	const float *x; /* NULL: every x is 1 */
	uint32_t n;
	float label, weight;
	uint64_t number; /* in the data */
	struct ls_update update;
};

/* Blocks a <= b, and the class in which they meet. */
struct ls_online_meeting {
	uint16_t a, b, class;
};

/* What a thread does of each row: classes lo .. hi, whose meetings are in the order of a, then b: that of memory. */
struct ls_online_share {
	uint32_t lo, hi, n;
	struct ls_online_meeting *meeting;
};

/* Room for a row that one thread does alone. */
struct ls_online_room {
	float *back;          /* entries × lanes (ls_fm_lanes) */
	float *total;         /* classes × padded */
	float *sums;          /* width: the lanes' gradients, then zeros */
	float *score, *slope; /* outputs, as */
	float *linear;        /* gradients of linear weights */
	float *bias;          /* outputs × (1 + states): the thread's copy */
	float loss;
};

struct ls_online;

/* Called by ls_cpu_new. longest: entries of the longest row. */
int ls_online_new(struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool, const struct ls_kern *kern,
		  uint64_t longest, struct ls_online **ret, struct ls_err *err);
void ls_online_free(struct ls_online *o);
/* As ls_cpu_steps. Returns the data row that was not finite, or UINT64_MAX. */
uint64_t ls_online_steps(struct ls_online *o, uint64_t first, uint64_t n, double *loss);

#endif
