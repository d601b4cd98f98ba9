/* A product whose every bit is known beforehand: arithmetic that gives another digest is
 * wrong. The caller frees what ls_probe_new makes (ls_probe_done). Any thread. */
#ifndef LS_WATCH_PROBE_H
#define LS_WATCH_PROBE_H

#include <stddef.h>

#include "base/digest.h"
#include "exact/product.h"

/* SMALL is for stand-ins of GPUs; FULL has work for every multiprocessor. */
enum ls_probe_size { LS_PROBE_SMALL, LS_PROBE_FULL, LS_PROBE_SIZES };

struct ls_probe {
	struct ls_exact_product p; /* float32 on the fine grid; owns a, b and out */
	size_t a_bytes, b_bytes, out_bytes;
	const char *golden; /* SHA-256 of out */
};

void ls_probe_new(enum ls_probe_size size, struct ls_probe *ret);
void ls_probe_done(struct ls_probe *p);
/* Of p's out. */
void ls_probe_digest(const struct ls_probe *p, char ret[LS_SHA256_HEX]);

#endif
