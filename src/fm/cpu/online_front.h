/* While a model is trained a row at a time, the features that are seen most often have their
 * records in front, side by side: they then share pages, and with them the processor's few entries
 * for pages and the cache lines of the tables that it looks pages up in. Records change places
 * within the model's memory, by a list of exchanges that is undone before anybody else reads the
 * model.
 *
 * Belongs to online.c. Exchanges run on all threads of the pool, each on its part of every record,
 * and thread 0 on the sums of squares (model.h). */
#ifndef LS_FM_CPU_ONLINE_FRONT_H
#define LS_FM_CPU_ONLINE_FRONT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "fm/data/rows.h"
#include "fm/model/model.h"

struct ls_online_front {
	uint32_t *place; /* by feature: where its record is while they are in front */
	uint32_t *other; /* record i and record other[i] >= i change places, in this order */
	uint32_t n;
	bool in_front;
};

/* The most records in front; tests set it before they start. */
extern uint32_t ls_online_front_most;

/* Counts features in rows, in a sample of them if they are many. */
int ls_online_front_init(struct ls_online_front *f, const struct ls_fm_model *m,
			 const struct ls_rows *rows, struct ls_err *err);
void ls_online_front_free(struct ls_online_front *f);
/* Brings them to the front, or back; nothing where they are there. */
void ls_online_front_set(struct ls_online_front *f, struct ls_fm_model *m, struct ls_pool *pool,
			 bool in_front);

#endif
