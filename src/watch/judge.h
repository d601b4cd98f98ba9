/* Samples become verdicts: one for each rule and GPU, and one for each rule of the host.
 * The judge borrows rules and table, and owns its memory of earlier samples and its
 * verdicts (ls_judge_free accepts NULL). Time is that of the samples: how long a rule has been
 * beyond its limits is told by their steady clock, which nobody sets. One thread at a time an
 * object. */
#ifndef LS_WATCH_JUDGE_H
#define LS_WATCH_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "watch/rules.h"
#include "watch/sample.h"

struct ls_judge_options {
	int expected;               /* GPUs that there should be; -1: not known */
	bool once;                  /* there is one sample: rules that take time are not judged */
	bool epilog;                /* a job has ended: nothing of it may be left */
	const struct ls_spec *spec; /* borrowed; NULL: none */
	const struct ls_advice *advice; /* checklists; borrowed; NULL: none */
	const char *driver; /* of the run that is watched; NULL: that of the first sample */
};

enum { LS_VERDICT_EVIDENCE = 320 };

struct ls_verdict {
	const struct ls_rule *rule;
	int gpu; /* -1: the host */
	enum ls_health health;
	bool changed; /* by the last sample; the first one changes what is not ok */
	double since; /* seconds since 1970 */
	char evidence[LS_VERDICT_EVIDENCE];
	const char *advice; /* or NULL; of the rule or of the table of Xids */
	char label[128];    /* "GPU 0 (serial 1650421000123)", "host" */
};

struct ls_judge;

struct ls_judge *ls_judge_new(const struct ls_rules *rules, const struct ls_xid_table *xids,
			      const struct ls_judge_options *o);
void ls_judge_free(struct ls_judge *j);
void ls_judge_feed(struct ls_judge *j, const struct ls_sample *s);

/* Verdicts after the last sample, the host's first, then GPU by GPU. Valid until the
 * next. */
size_t ls_judge_count(const struct ls_judge *j);
const struct ls_verdict *ls_judge_verdict(const struct ls_judge *j, size_t i);
/* The worst: critical, then warn, then unknown. Nothing that could be judged: unknown. */
enum ls_health ls_judge_worst(const struct ls_judge *j);

/* What was counted of a GPU's Xids. */
const struct ls_xid_counts *ls_judge_xids(const struct ls_judge *j, unsigned gpu);

#endif
