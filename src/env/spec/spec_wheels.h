/* Which builds of torch a spec is about: with CUDA or without, and the index that has
 * them. Nothing is owned; texts that are returned belong to the caller where it says so.
 * No state; any thread. */
#ifndef LS_ENV_SPEC_SPEC_WHEELS_H
#define LS_ENV_SPEC_SPEC_WHEELS_H

#include "env/spec/spec.h"

/* Is the spec about a machine that computes on a GPU? Not when its torch is a CPU build,
 * or when it names neither CUDA nor a GPU anywhere. */
bool ls_spec_wants_cuda(const struct ls_spec *spec);

/* The build of a version ("2.3.1+cu121" -> "cu121") when it is one that PyTorch's index
 * has a folder for: cuNNN, cpu, xpu, rocmN.N. Caller frees; NULL: none of those. */
char *ls_wheel_build(const char *version);

#endif
