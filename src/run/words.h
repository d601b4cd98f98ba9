/* A command as one text, split into words as a shell would, by its quotes and blanks
 * alone. No shell runs. The words are owned by the list (ls_words_done). Any thread. */
#ifndef LS_RUN_WORDS_H
#define LS_RUN_WORDS_H

#include <stddef.h>

#include "base/err.h"

struct ls_words {
	char **w; /* ends with NULL */
	size_t n, cap;
};

/* Refuses what a shell would do something with beyond that, quotes that are not closed,
 * and a text without words. name begins the message, as in "option --against". ret may be
 * left with some words after a failure. */
int ls_words_split(const char *text, const char *name, struct ls_words *ret, struct ls_err *err);
void ls_words_done(struct ls_words *l);

#endif
