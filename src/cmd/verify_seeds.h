/* verify --seeds: its options and the way to it. Owns nothing; one thread. */
#ifndef LS_CMD_VERIFY_SEEDS_H
#define LS_CMD_VERIFY_SEEDS_H

#include "base/opt.h"

/* clang-format off */
#define LS_SEEDS_OPTS                                                                             \
	{"seeds", 0, "N", "run with N seeds and show the spread of --metric"},                     \
	{"metric", 0, "NAME", "with --seeds: a key of the .json, .jsonl or .csv files under {out}, or of \"name: value\" in the output; FILE:NAME for one file"}, \
	{"against", 0, "COMMAND", "with --seeds: another command, and whether the two differ by more than the seeds do"}, \
	{"margin", 0, "SHARE%|VALUE", "with --seeds: what still counts as equal (default 0.5%)"}
/* clang-format on */

/* The last lines of a run that failed, or NULL: for verify with and without --seeds. */
void ls_verify_print_tail(const char *lines);
/* One of these options was given. */
bool ls_verify_seeds_wanted(const struct ls_args *args);
int ls_verify_seeds(const struct ls_args *args); /* returns the exit status */

#endif
