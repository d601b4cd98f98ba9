/* A progress line on a terminal, redrawn at most ten times a second and removed when
 * done. Without a terminal nothing is drawn. The caller owns the struct; one thread. */
#ifndef LS_CMD_PROGRESS_H
#define LS_CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct ls_progress {
	bool on;
	bool resumed; /* what the first call has done was done before: time is reckoned from there
		       */
	uint64_t from;
	double started, drawn;
};

void ls_progress_start(struct ls_progress *p, bool wanted, bool resumed);
/* Shows done of total, the time left by what was done so far, and a text. brief says the
 * same where there is little room, in pairs of words ("loss 0.5", "2M rows/s"), the most
 * important first; pairs that do not fit are left out. The bar gets the room that the
 * figures leave, which may be none. */
void ls_progress_show(struct ls_progress *p, uint64_t done, uint64_t total, const char *text,
		      const char *brief);
/* Clears the line, so that something else can be printed. */
void ls_progress_clear(const struct ls_progress *p);
/* Prints a line in its place, whether there is a terminal or not. */
void ls_progress_line(const struct ls_progress *p, const char *line);

#endif
