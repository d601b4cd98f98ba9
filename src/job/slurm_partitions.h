/* Slurm's partitions with their idle nodes and free GPUs, from one call of sinfo. Nothing
 * is owned. Any thread. */
#ifndef LS_JOB_SLURM_PARTITIONS_H
#define LS_JOB_SLURM_PARTITIONS_H

#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

/* An array, in sinfo's order, of
 *   {"partition", "default": bool, "up": bool, "time_limit_s": number or null (none),
 *    "nodes", "usable_nodes", "idle_nodes", "cpus_per_node", "memory_mib_per_node",
 *    "gpus": [{"type": text or null, "per_node", "total", "free", "free_on_one_node"}]}
 * Nodes that are down, drained or do not answer are not usable and have nothing free;
 * "total", "per_node" and the sizes, which are those of the largest node, count all
 * nodes. LS_EUNKNOWN: Slurm is not installed or does not answer. */
int ls_slurm_partitions(json_t **ret, struct ls_err *err);

/* The same from what sinfo printed, which is changed. Lines that do not fit are left out.
 */
json_t *ls_slurm_partitions_parse(char *text);

#endif
