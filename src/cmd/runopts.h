/* What run and verify have in common on the command line: policy options and the request
 * they make. An ls_runopts owns what its request points to and args does not
 * (ls_runopts_done). One thread. */
#ifndef LS_CMD_RUNOPTS_H
#define LS_CMD_RUNOPTS_H

#include "base/opt.h"
#include "run/run.h"

/* clang-format off */
#define LS_POLICY_OPTS                                                                                                  \
	{"level", 0, "0|1|2|3", "0 record, 1 comparable, 2 high, 3 bitwise (default 2)"},                                \
	{"seed", 0, "N", "seed of random, numpy, torch, tensorflow and PYTHONHASHSEED (default 1337)"},                  \
	{"precision", 0, "fp32|tf32|bf16|fp16", "float32 products strict, or in TF32; dtype of autocast (default fp32)"},\
	{"spec", 0, "NAME|FILE", "refuse to start unless this machine agrees with the spec"},                            \
	{"env", 0, "NAME=VALUE", "set a variable for the program, after the policy; may be repeated"},                   \
	{"warn-only", 0, NULL, "record an operation without a deterministic form instead of raising"},                   \
	{"no-fill", 0, NULL, "do not let torch fill uninitialised memory (faster)"},                                     \
	{"exact", 0, "[=strict]", "PyTorch computes the same bits on every device; strict: only what is so"},             \
	{"hold", 0, NULL, "refuse the changes that the program makes to the settings"},                                  \
	{"same-streams", 0, NULL, "generators without a seed give every process the same numbers"}
/* clang-format on */

struct ls_runopts {
	struct ls_run_request request;
	const char **lists[8];
	size_t n_lists;
	json_t *environment, *env_block,
		*spec; /* the first two are gathered when they are first asked for */
	char *inject, *library, *cache;
};

int ls_runopts_init(struct ls_runopts *o, const struct ls_args *args, struct ls_err *err);
/* Spec and the tracing library: what may be missing. Call it when the request is
 * otherwise ready; o must stay where it is, as the request asks it for the facts. */
int ls_runopts_prepare(struct ls_runopts *o, const struct ls_args *args, struct ls_err *err);
void ls_runopts_done(struct ls_runopts *o);
/* All values of an option as a NULL-terminated list that o owns, or NULL. */
const char *const *ls_runopts_list(struct ls_runopts *o, const struct ls_args *args,
				   const char *name);

#endif
