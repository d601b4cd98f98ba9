/* The secret that opens the pages, in a header of the request: "Bearer TOKEN", or "Basic"
 * with any user and the token as the password, which browsers ask for. Read-only once
 * loaded; any thread. */
#ifndef LS_WATCH_TOKEN_H
#define LS_WATCH_TOKEN_H

#include <stdbool.h>

#include "base/err.h"

enum { LS_TOKEN_LEAST = 16, LS_TOKEN_MOST = 256 };

struct ls_token {
	unsigned char digest[32]; /* what is compared has one length and says nothing */
};

/* LS_EINPUT when it is shorter than 16 characters or holds others than letters, digits
 * and punctuation. */
int ls_token_set(struct ls_token *t, const char *text, struct ls_err *err);
/* The file's first line. It must be the user's own, and nobody else may read it. */
int ls_token_read(struct ls_token *t, const char *path, struct ls_err *err);
/* The same text itself, to be sent to others. */
int ls_token_text(const char *path, char ret[LS_TOKEN_MOST + 1], struct ls_err *err);
/* The time that it takes does not depend on how much of the secret is right. */
bool ls_token_opens(const struct ls_token *t, const char *authorization);

#endif
