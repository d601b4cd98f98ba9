/* Facts of a machine: a list of key and value, each with where it came from or why it is
 * not known. Keys are dotted names, listed in docs/FORMATS.md. The list owns its texts;
 * what it hands out is borrowed until the list changes or is freed. One thread at a time
 * an object. */
#ifndef LS_ENV_FACTS_FACTS_H
#define LS_ENV_FACTS_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "base/keymap.h"

/* Absent is an answer (torch is not installed, the variable is not set); unknown is none
 * (there is no driver to ask). */
enum ls_fact_state { LS_FACT_KNOWN, LS_FACT_ABSENT, LS_FACT_UNKNOWN };

struct ls_fact {
	char *key;
	enum ls_fact_state state;
	char *value;  /* only when known, otherwise NULL */
	char *source; /* file, library or call that was asked; never NULL */
	char *reason; /* why it is absent or unknown; NULL when known */
	char *note;   /* a remark ("not the deterministic value"), or NULL */
};

struct ls_facts {
	struct ls_fact *items; /* in the order in which they were gathered; keys are unique */
	size_t n, cap;
	struct ls_keymap map; /* finds an item by its key */
};

struct ls_facts *ls_facts_new(void);
void ls_facts_free(struct ls_facts *facts);

/* Each replaces an earlier fact of the same key. Texts are copied; source may not be
 * NULL. */
void ls_facts_set(struct ls_facts *facts, const char *key, const char *value, const char *source);
void ls_facts_absent(struct ls_facts *facts, const char *key, const char *source,
		     const char *reason);
void ls_facts_unknown(struct ls_facts *facts, const char *key, const char *source,
		      const char *reason);
void ls_facts_note(struct ls_facts *facts, const char *key,
		   const char *note); /* the fact must exist */
void ls_facts_copy(struct ls_facts *facts, const char *to,
		   const char *from); /* the same answer under another key */

/* NULL when nobody asked that question. "package.NAME" is looked up with the name
 * normalised (numpy_X.y, NumPy-x-y). */
const struct ls_fact *ls_facts_find(const struct ls_facts *facts, const char *key);
const char *ls_facts_value(const struct ls_facts *facts, const char *key); /* NULL unless known */
/* "gpu.N.WHAT" */
const struct ls_fact *ls_facts_gpu(const struct ls_facts *facts, size_t n, const char *what);
const char *ls_facts_gpu_value(const struct ls_facts *facts, size_t n, const char *what);
size_t ls_facts_gpu_count(
	const struct ls_facts *facts); /* 0 also when unknown: ask "gpu_count" for the difference */

const char *ls_fact_state_name(enum ls_fact_state state); /* "known", "absent", "unknown" */

/* A list of objects {"key", "state", "value", "source", "reason", "note"}; value is null
 * unless known. New reference. */
json_t *ls_facts_json(const struct ls_facts *facts);
/* The run-manifest block: torch, torch_cuda, cudnn (integer encoding), python,
 * nvidia_smi, cuda_version_txt; null where not known. New reference. */
json_t *ls_facts_env_block(const struct ls_facts *facts);

#endif
