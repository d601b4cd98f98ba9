#include "cmd/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/cmd.h"

enum { MOST_CELLS = 20, LEAST_CELLS = 3 };
static const char clear[] = "\r\033[K"; /* erases the line */

void ls_progress_start(struct ls_progress *p, bool wanted, bool resumed)
{
	*p = (struct ls_progress){
		.on = wanted && ls_cmd_can_draw(stderr), .resumed = resumed, .started = ls_clock()};
}

static int columns(void)
{
	struct winsize size;
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

/* The time left, estimated from what was done since the start; at most six characters for
 * less than a thousand hours. */
static void left_text(const struct ls_progress *p, double now, uint64_t done, uint64_t total,
		      char *ret, size_t size)
{
	double each = done > p->from ? (now - p->started) / (double)(done - p->from) : 0;
	double seconds = each * (double)(total - done);
	int s = seconds < 1e9 ? (int)seconds : 1000000000, minutes = s / 60;
	if (done <= p->from)
		snprintf(ret, size, "?");
	else if (minutes < 100)
		snprintf(ret, size, "%d:%02d", minutes, s % 60);
	else
		snprintf(ret, size, "%dh%02d", minutes / 60, minutes % 60);
}

/* Whether the locale says that the terminal has only ASCII. */
static bool is_plain(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = getenv(names[i]);
		if (value && *value)
			return strcmp(value, "C") == 0 || strcmp(value, "POSIX") == 0;
	}
	return false;
}

/* Written in one piece, because a signal may come while the terminal is blocked, and what
 * is being written is then lost. */
static void draw(int done_cells, int cells, const char *line)
{
	bool plain = is_plain();
	char bar[MOST_CELLS * sizeof "█"] = "";
	size_t at = 0;
	for (int i = 0; i < cells; i++)
		at += (size_t)snprintf(bar + at, sizeof bar - at, "%s",
				       i < done_cells ? (plain ? "#" : "█") : (plain ? "." : "░"));
	fprintf(stderr, "%s%s%s", clear, bar, line);
	fflush(stderr);
}

/* Keeps as many of the trailing pairs of words as fit: half a number would be another
 * number. */
static int drop_pairs(char *line, int width)
{
	int end = 0, words = 0;
	for (int i = 0; i <= width && line[i]; i++)
		if (line[i] == ' ' && ++words % 2)
			end = i;
	line[end] = '\0';
	return end;
}

void ls_progress_show(struct ls_progress *p, uint64_t done, uint64_t total, const char *text,
		      const char *brief)
{
	double t = ls_clock();
	if (p->resumed && !p->from) {
		p->from = done;
		p->started = t;
	}
	if (!p->on || t - p->drawn < 0.1 || !total)
		return;
	p->drawn = t;
	char left[32], line[512];
	left_text(p, t, done, total, left, sizeof left);
	int width = columns() - 1; /* some terminals begin a new line at the last column */
	int length = snprintf(line, sizeof line, " %3d%%  %s  %s left", (int)(done * 100 / total),
			      text, left);
	if (length >
	    width) /* time first: what is behind is what is dropped where even this is too long */
		length = snprintf(line, sizeof line, "%s left  %s", left, brief);
	if (length > width)
		length = snprintf(line, sizeof line, "%s %s", left, brief);
	if (length > width)
		length = drop_pairs(line, width);
	int cells = width - length < MOST_CELLS ? width - length : MOST_CELLS;
	cells = cells < LEAST_CELLS || line[0] != ' ' ? 0 : cells; /* behind a bar comes a blank */
	draw((int)(done * (uint64_t)cells / total), cells, line);
}

void ls_progress_clear(const struct ls_progress *p)
{
	if (p->on)
		fputs(clear, stderr);
}

void ls_progress_line(const struct ls_progress *p, const char *line)
{
	fprintf(stderr, "%s%s\n", p->on ? clear : "", line);
}
