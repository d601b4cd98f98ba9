/* A sample for people, as a table that fits a screen, and for programs, as JSON. Nothing
 * is owned; texts and references go to the caller. Any thread. */
#ifndef LS_WATCH_REPORT_H
#define LS_WATCH_REPORT_H

#include "base/json.h"
#include "base/str.h"
#include "watch/sample.h"

/* "-" stands for what is not known. */
void ls_watch_text(const struct ls_sample *s, struct ls_str *out);
/* A metric that is absent is not among a GPU's "metrics" but, with the reason, among its
 * "absent". */
json_t *ls_watch_json(const struct ls_sample *s);

#endif
