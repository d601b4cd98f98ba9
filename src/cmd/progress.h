/* A progress line on a terminal: redrawn at most ten times a second, gone when done. Nothing
 * without a terminal. The caller owns the struct; one thread. */
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
/* done of total, what the time so far says is left, and a text; brief says the same where there is
 * little room, in pairs of words ("loss 0.5", "2M rows/s"), the most important first: those that do
 * not fit are left out. The figures come first: the bar has what they leave of the line, which may
 * be nothing. */
void ls_progress_show(struct ls_progress *p, uint64_t done, uint64_t total, const char *text,
		      const char *brief);
/* Clears the line, so that something else can be printed. */
void ls_progress_clear(const struct ls_progress *p);
/* Prints one in its place, terminal or not. */
void ls_progress_line(const struct ls_progress *p, const char *line);

#endif
