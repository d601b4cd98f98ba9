/* Commands with placeholders, {seed} or {out}: what they are made from and what they
 * become. Values come from a function. A pair of braces around anything but a name
 * ({"lr": 1}) stays as it is. Any thread. */
#ifndef LS_JOB_COMMAND_H
#define LS_JOB_COMMAND_H

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

/* The text for a name, or NULL where there is no such placeholder or it has no value. */
typedef const char *(*ls_placeholder)(void *ctx, const char *name);

/* Appends word with its placeholders filled in. An unknown one is LS_EINPUT. */
int ls_command_fill(const char *word, ls_placeholder value, void *ctx, struct ls_str *out,
		    struct ls_err *err);
/* command is an array of words; *ret is NULL-terminated, freed by ls_command_free. */
int ls_command_words(const json_t *command, ls_placeholder value, void *ctx, char ***ret,
		     struct ls_err *err);
void ls_command_free(char **words);
/* Quoted for a shell; to be freed. */
char *ls_command_text(const json_t *command);

#endif
