/* The GPU catalogue: what models of GPUs can do, from data/gpus.json, and the batch sizes
 * that data/batch-by-vram.json advises. ls_gpu_catalog_free frees all; models, ranges and
 * texts are borrowed until then. Read-only after loading; any thread. */
#ifndef LS_ENV_FACTS_GPU_CATALOG_H
#define LS_ENV_FACTS_GPU_CATALOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

/* In the order in which they are listed; each is a bit of a set. */
enum ls_precision {
	LS_FP32 = 1 << 0,
	LS_TF32 = 1 << 1,
	LS_FP16 = 1 << 2,
	LS_BF16 = 1 << 3,
	LS_FP8 = 1 << 4,
	LS_FP4 = 1 << 5,
	LS_PRECISIONS = 6 /* how many there are */
};

/* One model with one size of memory: "A100-80GB", or "L40S", which has one size only. */
struct ls_gpu_model {
	char *name;
	const char *family;     /* "A100" */
	const char *capability; /* "8.9" */
	unsigned memory_gb;     /* the nameplate, which means GiB */
	unsigned reported_mib;  /* what nvidia-smi reports; 0: not known */
	unsigned precisions;    /* set of enum ls_precision that the hardware has */
	const char *link;       /* "NVLink", "PCIe", "by form" (depends on the card) */
	const json_t *row;      /* names ("smi", "aliases"), source and date */
};

struct ls_batch_range {
	unsigned vram_gb, batch_min, batch_max;
	const char *note;
};

struct ls_gpu_catalog;

int ls_gpu_catalog_load(struct ls_gpu_catalog **ret, struct ls_err *err);
void ls_gpu_catalog_free(struct ls_gpu_catalog *c);
size_t ls_gpu_catalog_count(const struct ls_gpu_catalog *c);
const struct ls_gpu_model *ls_gpu_catalog_model(const struct ls_gpu_catalog *c, size_t i);
/* The model that goes by this name: "h200", "A100-80GB", "NVIDIA A100-SXM4-80GB", "3090".
 * An unknown name, and one that stands for several sizes of memory, is an error that
 * names candidates.
 */
int ls_gpu_catalog_find(const struct ls_gpu_catalog *c, const char *name,
			const struct ls_gpu_model **ret, struct ls_err *err);
/* The range of the largest row that the memory reaches; NULL below the first. */
const struct ls_batch_range *ls_gpu_catalog_batch(const struct ls_gpu_catalog *c, double vram_gb);

/* The same for a GPU that reports this name and this much memory; NULL also when mib is
 * 0, which means unknown. The nameplate counts where name and memory are those of a known
 * model. */
const struct ls_batch_range *ls_gpu_catalog_batch_of(const struct ls_gpu_catalog *c,
						     const char *name, unsigned mib);

/* Memory that programs can use, in bytes: as reported, or 15/16 of the nameplate, which
 * is what GPUs leave that keep their ECC bits in the same memory. */
double ls_gpu_model_bytes(const struct ls_gpu_model *m);

/* "bf16"; and back, 0 for no precision. */
const char *ls_precision_name(enum ls_precision p);
enum ls_precision ls_precision_of(const char *name);

/* Does the GPU called name go by wanted? Vendor words and case do not count: "T4" is
 * "Tesla T4", "A100" is "NVIDIA A100-SXM4-40GB", but "RTX 3060" is not "NVIDIA GeForce
 * RTX 3060 Ti". */
bool ls_gpu_name_is(const char *wanted, const char *name);

#endif
