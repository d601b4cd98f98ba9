/* A JSON text as values and kinds of a bundle, so that it can be a part of a file of
 * another format. Numbers that are no short whole ones are their text. The bundle owns
 * what it is given. Any thread, one thread at a time an object. */
#ifndef LS_COMPARE_JSON_VALUES_H
#define LS_COMPARE_JSON_VALUES_H

#include "compare/json_pair.h"
#include "tensor/tensor.h"

/* Names begin with prefix. text_name is for messages. */
int ls_json_values(struct ls_bundle *b, const char *prefix, const char *text, size_t len,
		   const char *text_name, struct ls_err *err);
/* One leaf under a name. */
void ls_json_value_add(struct ls_bundle *b, const char *name, const struct ls_json_token *t);

#endif
