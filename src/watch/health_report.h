/* Verdicts for people, for programs, and in one line for health checks. Texts and
 * references go to the caller. Any thread. */
#ifndef LS_WATCH_HEALTH_REPORT_H
#define LS_WATCH_HEALTH_REPORT_H

#include "base/json.h"
#include "base/str.h"
#include "watch/judge.h"

/* What is not ok, with evidence and advice; or one line that says how much was judged. */
void ls_health_text(const struct ls_judge *j, struct ls_str *out);
/* "CRITICAL: GPU 0 (serial 1650): the GPU no longer answers [gpu-lost] …", as monitoring
 * plug-ins print it; ends with a newline. */
void ls_health_line(const struct ls_judge *j, struct ls_str *out);
json_t *ls_verdict_json(const struct ls_verdict *v); /* one of them */
/* {"health": "critical", "verdicts": […]}: all that were judged or are unknown. */
json_t *ls_health_json(const struct ls_judge *j);

#endif
