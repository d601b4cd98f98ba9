#include "cmd/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dl.h"
#include "base/mem.h"

/* Of ncurses' ABI 6. */
enum { COLOUR_RED = 1, COLOUR_GREEN, COLOUR_YELLOW, COLOUR_BLUE, COLOUR_MAGENTA, COLOUR_CYAN };
enum { REVERSE = 1 << 18, DIM = 1 << 20, BOLD = 1 << 21, PAIR_SHIFT = 8, ESCAPE = 27, FAILED = -1 };

typedef struct curses_window window;
typedef struct curses_screen terminal;

struct fns {
	terminal *(*newterm)(const char *, FILE *, FILE *);
	void (*delscreen)(terminal *);
	window **stdscr;
	int (*cbreak)(void), (*noecho)(void), (*endwin)(void), (*start_color)(void);
	int (*use_default_colors)(void), (*curs_set)(int), (*set_escdelay)(int);
	bool (*has_colors)(void);
	int (*init_pair)(short, short, short);
	int (*keypad)(window *, bool);
	int (*werase)(window *), (*wrefresh)(window *), (*wgetch)(window *);
	int (*wmove)(window *, int, int), (*wattrset)(window *, int);
	int (*waddnstr)(window *, const char *, int);
	void (*wtimeout)(window *, int);
	int (*getmaxx)(const window *), (*getmaxy)(const window *);
};

#define NEED(name) LS_DL_NEED(struct fns, name, #name)
static const struct ls_dl_sym syms[] = {
	NEED(newterm),     NEED(delscreen),
	NEED(stdscr),      NEED(cbreak),
	NEED(noecho),      NEED(endwin),
	NEED(start_color), NEED(use_default_colors),
	NEED(curs_set),    NEED(has_colors),
	NEED(init_pair),   NEED(keypad),
	NEED(werase),      NEED(wrefresh),
	NEED(wgetch),      NEED(wmove),
	NEED(wattrset),    NEED(waddnstr),
	NEED(wtimeout),    NEED(getmaxx),
	NEED(getmaxy),     LS_DL_MAY(struct fns, set_escdelay, "set_escdelay"),
	LS_DL_END};

struct ls_screen {
	struct fns c;
	terminal *terminal;
	window *w;
	bool blocks;
	int inks[LS_INKS];
};

static void mix_inks(struct ls_screen *s, bool colours)
{
	static const short of[LS_INKS] = {[LS_INK_GREEN] = COLOUR_GREEN,
					  [LS_INK_YELLOW] = COLOUR_YELLOW,
					  [LS_INK_RED] = COLOUR_RED,
					  [LS_INK_CYAN] = COLOUR_CYAN};
	s->inks[LS_INK_BOLD] = BOLD;
	s->inks[LS_INK_DIM] = DIM;
	s->inks[LS_INK_BAR] = REVERSE;
	s->inks[LS_INK_RED] = s->inks[LS_INK_YELLOW] = BOLD; /* where there are no colours */
	if (!colours || !s->c.has_colors())
		return;
	s->c.start_color();
	s->c.use_default_colors();
	for (int i = 0; i < LS_INKS; i++)
		if (of[i] && s->c.init_pair((short)i, of[i], -1) != FAILED)
			s->inks[i] = (i << PAIR_SHIFT) | (i == LS_INK_RED ? BOLD : 0);
}

int ls_screen_open(bool colours, struct ls_screen **ret, struct ls_err *err)
{
	static const char *const names[] = {"libncursesw.so.6", NULL};
	struct ls_dl *lib;
	struct ls_screen *s = ls_xalloc(sizeof *s);
	int rc = ls_dl_open(names, syms, &s->c, &lib, err);
	if (rc) {
		free(s);
		return rc;
	}
	ls_dl_keep(lib);
	setlocale(LC_CTYPE, ""); /* numbers stay as they are in C */
	s->terminal = s->c.newterm(NULL, stdout, stdin);
	if (!s->terminal) {
		free(s);
		return ls_err_set(err, LS_EUNKNOWN, "ncurses does not know this terminal (TERM)");
	}
	s->w = *s->c.stdscr;
	s->blocks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	s->c.cbreak();
	s->c.noecho();
	s->c.curs_set(0);
	s->c.keypad(s->w, true);
	if (s->c.set_escdelay)
		s->c.set_escdelay(25);
	mix_inks(s, colours);
	*ret = s;
	return 0;
}

void ls_screen_close(struct ls_screen *s)
{
	if (!s)
		return;
	s->c.endwin();
	s->c.delscreen(s->terminal);
	free(s);
}

void ls_screen_size(const struct ls_screen *s, int *ret_rows, int *ret_columns)
{
	*ret_rows = s->c.getmaxy(s->w);
	*ret_columns = s->c.getmaxx(s->w);
}

void ls_screen_clear(struct ls_screen *s)
{
	s->c.werase(s->w);
}

/* The bytes of text that take at most `columns` columns, and how many they take. A
 * character of more than one column does not occur in what is shown here but in names of
 * programs, which stand last. */
static int cut(const char *text, int columns, int *ret_columns)
{
	int n = 0, used = 0;
	for (; text[n]; n++) {
		bool begins = ((unsigned char)text[n] & 0xc0) != 0x80;
		if (begins && used == columns)
			break;
		used += begins;
	}
	*ret_columns = used;
	return n;
}

int ls_screen_put(struct ls_screen *s, int row, int column, enum ls_ink ink, const char *text)
{
	int rows, columns, used;
	ls_screen_size(s, &rows, &columns);
	if (row < 0 || row >= rows || column < 0 || column >= columns)
		return column;
	int n = cut(text, columns - column, &used);
	s->c.wattrset(s->w, s->inks[ink]);
	s->c.wmove(s->w, row, column);
	s->c.waddnstr(s->w, text, n);
	s->c.wattrset(s->w, 0);
	return column + used;
}

void ls_screen_show(struct ls_screen *s)
{
	s->c.wrefresh(s->w);
}

int ls_screen_key(struct ls_screen *s, double seconds)
{
	static const struct {
		int code, key;
	} keys[] = {{258, LS_KEY_DOWN},      {259, LS_KEY_UP},       {262, LS_KEY_HOME},
		    {338, LS_KEY_PAGE_DOWN}, {339, LS_KEY_PAGE_UP},  {360, LS_KEY_END},
		    {410, LS_KEY_RESIZE},    {ESCAPE, LS_KEY_ESCAPE}};
	enum { F0 = 264, F12 = F0 + 12 };
	s->c.wtimeout(s->w, seconds > 0 ? (int)(seconds * 1000) : 0);
	int code = s->c.wgetch(s->w);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i].code == code)
			return keys[i].key;
	if (code > F0 && code <= F12)
		return LS_KEY_F + code - F0;
	return code > 0 && code < 256 ? code : LS_KEY_NONE;
}

bool ls_screen_has_blocks(const struct ls_screen *s)
{
	return s->blocks;
}
