/* YAML as JSON, so that both are compared the same way: one document of block and flow
 * collections, scalars of every style, anchors with their aliases, and tags. A tagged
 * value becomes {"!tag": value}. A plain word that versions of YAML read differently
 * (yes, 007, a date) becomes {"plain": word}, and a quoted key that looks like a number
 * keeps its quotes: what may differ never becomes equal. The caller frees the text. No
 * state; any thread. */
#ifndef LS_COMPARE_YAML_JSON_H
#define LS_COMPARE_YAML_JSON_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

/* Appends to out, also where it fails. name is the text's in messages. */
int ls_yaml_json(const char *text, size_t len, const char *name, struct ls_str *out,
		 struct ls_err *err);

#endif
