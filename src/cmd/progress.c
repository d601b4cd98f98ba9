#include "cmd/progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/cmd.h"

void ls_progress_start(struct ls_progress *p, bool wanted)
{
	*p = (struct ls_progress){wanted && ls_cmd_can_draw(stderr), ls_clock(), 0};
}

static int columns(void)
{
	struct winsize size;
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

void ls_progress_show(struct ls_progress *p, uint64_t done, uint64_t total, const char *text)
{
	enum { CELLS = 20 };
	double t = ls_clock();
	if (!p->on || t - p->drawn < 0.1 || !total)
		return;
	p->drawn = t;
	int full = (int)(done * CELLS / total);
	char bar[CELLS * 3 + 1], *b = bar, line[512];
	for (int i = 0; i < CELLS; i++)
		b += snprintf(b, sizeof bar - (size_t)(b - bar), "%s", i < full ? "█" : "░");
	double left = done ? (t - p->started) * (double)(total - done) / (double)done : 0;
	snprintf(line, sizeof line, " %3d%%  %s  %d:%02d left", (int)(done * 100 / total), text, (int)left / 60,
		 (int)left % 60);
	fprintf(stderr, "\r\033[K%s%.*s", bar, columns() > CELLS + 1 ? columns() - CELLS - 1 : 0, line);
	fflush(stderr);
}

void ls_progress_clear(const struct ls_progress *p)
{
	if (p->on)
		fputs("\r\033[K", stderr);
}
