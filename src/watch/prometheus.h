/* A sample and its verdicts in the text format of Prometheus: base units, a series for
 * what is known and none for what is not. Texts go to the caller. Any thread. */
#ifndef LS_WATCH_PROMETHEUS_H
#define LS_WATCH_PROMETHEUS_H

#include "base/str.h"
#include "watch/judge.h"
#include "watch/sample.h"

void ls_prometheus_text(const struct ls_sample *s, const struct ls_judge *j, struct ls_str *out);

/* One label, `name="value"`, with what the format wants escaped; bytes that are not UTF-8
 * are written as \xNN. */
void ls_prometheus_label(struct ls_str *out, const char *name, const char *value);

#endif
