/* Run manifests: reading, checking and telling. docs/schema/manifest.schema.json
 * describes the file. Values are new references. Any thread. */
#ifndef LS_RUN_MANIFEST_H
#define LS_RUN_MANIFEST_H

#include "base/json.h"
#include "base/str.h"

#define LS_MANIFEST_SCHEMA "lockstep.run/1"

/* path is a manifest or a folder that holds run_manifest.json. Refuses what is not a
 * manifest, naming the key. */
int ls_manifest_load(const char *path, json_t **ret, struct ls_err *err);
int ls_manifest_check(const json_t *manifest, const char *name, struct ls_err *err);
void ls_manifest_text(const json_t *manifest, struct ls_str *out);

/* How much a difference between two runs can mean for their bits. */
enum ls_weight { LS_BITS, LS_MAYBE, LS_HARMLESS, LS_RESULT };
const char *ls_weight_name(enum ls_weight w); /* "can change bits", … */

struct ls_difference {
	enum ls_weight weight;
	char *what, *a, *b; /* "policy.seed", "1337", "7" */
	char *why;          /* a reason worth telling, or NULL */
};

struct ls_differences {
	struct ls_difference *items; /* those that can change bits first */
	size_t n, cap;
};

void ls_manifest_diff(const json_t *a, const json_t *b, struct ls_differences *ret);
void ls_differences_add(struct ls_differences *d, enum ls_weight weight, const char *what,
			const char *a, const char *b, const char *why);
void ls_differences_done(struct ls_differences *d);
/* Tables by weight; nothing where there is no difference. */
void ls_differences_text(const struct ls_differences *d, struct ls_str *out);
json_t *ls_differences_json(const struct ls_differences *d);

#endif
