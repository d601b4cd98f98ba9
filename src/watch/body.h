/* Text that several threads hold at a time, such as an answer that is being sent while
 * the next one is made. It never changes and goes when the last one drops it. Any
 * thread. */
#ifndef LS_WATCH_BODY_H
#define LS_WATCH_BODY_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/json.h"
#include "base/str.h"

struct ls_body {
	atomic_uint holders;
	size_t len;
	const char *data;
	char *own; /* NULL where data is borrowed for ever */
};

/* With one holder, the caller. */
struct ls_body *ls_body_take(struct ls_str *text); /* empties text */
struct ls_body *ls_body_borrow(const void *data, size_t len);
struct ls_body *ls_body_json_take(json_t *value); /* drops the reference */
struct ls_body *ls_body_hold(struct ls_body *b);  /* one more holder */
void ls_body_drop(struct ls_body *b);             /* NULL is fine */

#endif
