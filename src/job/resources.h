/* Where an experiment could run now: the GPUs of this machine and Slurm's partitions with
 * free ones, each with the batch that keeps the training as it was. Places are JSON
 * objects of the caller's. One thread a store. */
#ifndef LS_JOB_RESOURCES_H
#define LS_JOB_RESOURCES_H

#include "job/store.h"

/* Appends {"where": "local" or "slurm", "partition": text or null, "gpu": the catalogue's
 * name or what the machine calls it, "free", "total", "free_on_one_node", "nodes"} to
 * places, and to notes why something could not be looked at. */
int ls_resources_find(struct ls_store *s, json_t *places, json_t *notes, struct ls_err *err);

/* Puts the places into order, the best first, and gives each the members num_gpus, nodes,
 * batch_size, accumulation, global_batch, same_global_batch, warnings [texts] and config,
 * a text; one with nothing free gets none of them and comes last. */
int ls_resources_plan(const json_t *row, json_t *places, struct ls_err *err);

#endif
