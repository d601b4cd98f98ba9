/* A sample for people, as a table that fits a screen, and for programs, as JSON. Nothing
 * is owned; texts and references go to the caller. Any thread. */
#ifndef LS_WATCH_REPORT_H
#define LS_WATCH_REPORT_H

#include "base/json.h"
#include "base/str.h"
#include "watch/sample.h"

/* Cells of tables. "-" stands for what is not known. */
enum { LS_REPORT_CELL = 64 };
/* "93 %" */
void ls_report_number(const struct ls_watch_gpu *g, enum ls_meter_id id, double factor,
		      const char *unit, char ret[LS_REPORT_CELL]);
/* "512/700 W" */
void ls_report_pair(const struct ls_watch_gpu *g, enum ls_meter_id now, enum ls_meter_id most,
		    double factor, const char *unit, char ret[LS_REPORT_CELL]);
void ls_report_memory(const struct ls_watch_gpu *g, char ret[LS_REPORT_CELL]);
/* Why the clocks are low, or why the GPU does not answer. */
void ls_report_state(const struct ls_watch_gpu *g, char ret[LS_NVML_TEXT]);
/* One line, or nothing. */
void ls_report_host(const struct ls_host *h, struct ls_str *out);

/* What a project and its trainings do: a line and a table, or nothing. */
void ls_report_jobs(const struct ls_jobs *j, struct ls_str *out);
/* "512/s, 98 % of its best", or why not. */
void ls_report_rate(const struct ls_training_rate *r, char ret[LS_REPORT_CELL * 2]);

void ls_watch_text(const struct ls_sample *s, struct ls_str *out);
/* A metric that is absent is not among a GPU's "metrics" but, with the reason, among its
 * "absent". */
json_t *ls_watch_json(const struct ls_sample *s);

#endif
