/* A terminal that is drawn on as a whole: ncurses, opened at run time, so that the
 * program starts without it. The screen owns the terminal's state until ls_screen_close,
 * which accepts NULL. One screen a process; one thread. */
#ifndef LS_CMD_SCREEN_H
#define LS_CMD_SCREEN_H

#include <stdbool.h>

#include "base/err.h"

struct ls_screen;

enum ls_ink {
	LS_INK_PLAIN,
	LS_INK_BOLD,
	LS_INK_DIM,
	LS_INK_BAR,
	LS_INK_GREEN,
	LS_INK_YELLOW,
	LS_INK_RED,
	LS_INK_CYAN,
	LS_INKS
};

enum ls_key {
	LS_KEY_NONE, /* the time is over, or a signal came */
	LS_KEY_UP = 0x1000,
	LS_KEY_DOWN,
	LS_KEY_PAGE_UP,
	LS_KEY_PAGE_DOWN,
	LS_KEY_HOME,
	LS_KEY_END,
	LS_KEY_RESIZE,
	LS_KEY_ESCAPE,
	LS_KEY_F, /* F1 is LS_KEY_F + 1 */
};

/* LS_EUNKNOWN: no ncurses, or a terminal that it does not know. */
int ls_screen_open(bool colours, struct ls_screen **ret, struct ls_err *err);
void ls_screen_close(struct ls_screen *s);

void ls_screen_size(const struct ls_screen *s, int *ret_rows, int *ret_columns);
void ls_screen_clear(struct ls_screen *s);
/* Printable text; what does not fit on the row is cut. Returns the column behind it. */
int ls_screen_put(struct ls_screen *s, int row, int column, enum ls_ink ink, const char *text);
void ls_screen_show(struct ls_screen *s); /* what was put since the last time */
/* Waits for a key: a character, or one of enum ls_key. */
int ls_screen_key(struct ls_screen *s, double seconds);
bool ls_screen_has_blocks(const struct ls_screen *s); /* it can show ▁▂▃▄▅▆▇█ */

#endif
