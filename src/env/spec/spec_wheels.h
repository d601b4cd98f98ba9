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

/* Has pip any index for this version of the package? No public one takes a local version
 * such as +ubuntu1; of PyTorch's builds only PyTorch's own index has some. */
bool ls_wheel_is_public(const char *package, const char *version);

/* PyTorch's address for the build of this version of the package, or NULL when the
 * package is not PyTorch's or the version names no build. Caller frees. */
char *ls_wheel_index(const char *package, const char *version);

/* The addresses beside its own from which pip gets what the spec pins: none where the
 * spec names an address. NULL-terminated; ls_wheel_indexes_free accepts NULL. */
char **ls_wheel_indexes(const struct ls_spec *spec);
void ls_wheel_indexes_free(char **list);

/* What the spec pins to a build that none of its addresses has: an address that ends in
 * whl/cu118 has no wheel of +cu130. One that ends in no build may have anything. */
struct ls_wheel_conflict {
	const char *package, *version, *address; /* borrowed from the spec */
};
bool ls_wheel_conflict(const struct ls_spec *spec, struct ls_wheel_conflict *ret);

#endif
