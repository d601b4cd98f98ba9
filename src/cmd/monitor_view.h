/* What the live terminal view shows: values over time, verdicts, programs; what keys
 * change. The view belongs to the caller (a struct of zeros is ready, and nothing is to
 * be freed). One thread. */
#ifndef LS_CMD_MONITOR_VIEW_H
#define LS_CMD_MONITOR_VIEW_H

#include "cmd/screen.h"
#include "watch/judge.h"
#include "watch/sample.h"

enum { LS_VIEW_POINTS = 240 };

enum ls_view_order {
	LS_VIEW_BY_MEMORY,
	LS_VIEW_BY_GPU,
	LS_VIEW_BY_PID,
	LS_VIEW_BY_NAME,
	LS_VIEW_ORDERS
};

/* Shares from 0 to 1; negative: not known. The last one is at next - 1. */
struct ls_view_line {
	float points[LS_VIEW_POINTS];
	unsigned long n;
};

struct ls_view {
	struct ls_view_line cpu, use[LS_SAMPLE_GPUS], memory[LS_SAMPLE_GPUS];
	enum ls_view_order order;
	int scroll; /* programs above the first one shown */
	bool paused, help, no_verdicts, ended;
	double interval;
};

void ls_view_add(struct ls_view *v, const struct ls_sample *s);
void ls_view_draw(struct ls_view *v, struct ls_screen *to, const struct ls_sample *s,
		  const struct ls_judge *j);
void ls_view_key(struct ls_view *v, int key);

#endif
