/* JSON through jansson: parsing with file, line and column in the message, strict
 * objects, atomic writing. json_t references follow jansson's rules. Duplicate keys are
 * errors. One thread at a time an object. */
#ifndef LS_BASE_JSON_H
#define LS_BASE_JSON_H

#include <jansson.h>

#include "base/err.h"

/* From here on jansson gives up without memory, where a guard (base/mem.h) is in force. It
 * would go on with a text or a document that lacks a part. Its allocator is everybody's: it
 * stays what it was, but for that. Any thread, any number of times. */
void ls_json_guard(void);

/* name stands for the text in messages. The text may hold NULs: they are errors and do
 * not end it. */
int ls_json_parse(const char *text, size_t len, const char *name, json_t **ret, struct ls_err *err);
int ls_json_load(const char *path, json_t **ret, struct ls_err *err); /* at most 64 MiB */
/* Refuses keys of object that are not among names (NULL-terminated), with a "did you
 * mean". where begins the message, as in "spec.json: gpu". */
int ls_json_only(const json_t *object, const char *const *names, const char *where,
		 struct ls_err *err);
char *ls_json_text(const json_t *value); /* indented, ending in a newline; caller frees */
int ls_json_write(const char *path, const json_t *value, struct ls_err *err); /* atomically */
/* A string value of text that may not be UTF-8 (a path, a variable), for which
 * json_string and json_pack return NULL. Bytes above 127 become \\xNN. New reference,
 * never NULL. */
json_t *ls_json_lossy(const char *text);
/* What a type is called in messages: "an object", "a string". */
const char *ls_json_kind(const json_t *value);

#endif
