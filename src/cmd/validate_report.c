/* The report of `lockstep validate` in Markdown, ready for a pull request. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "cmd/validate.h"

/* The facts that a report carries, in its order; "gpu" stands for each GPU's. */
static const char *const shown[] = {"lockstep",    "commit",   "compiler",  "numerics_version",
				    "has_cuda",    "gpu_code", "gpu",       "driver",
				    "driver_cuda", "os",       "kernel",    "arch",
				    "cpu",         "cpu.isa",  "cpu.count", "ram",
				    "container"};

/* --- counting --- */

struct tally {
	size_t n[3]; /* by state */
};

static size_t all_of(const struct tally *t)
{
	return t->n[LS_VAL_PASSED] + t->n[LS_VAL_DIFFERS] + t->n[LS_VAL_NOT_RUN];
}

/* way: SIZE_MAX for all of them. */
static struct tally count(const struct ls_val *v, enum ls_val_part part, size_t way)
{
	struct tally t = {{0}};
	for (size_t i = 0; i < v->n_checks; i++)
		if (v->checks[i].part == part && (way == SIZE_MAX || v->checks[i].way == way))
			t.n[v->checks[i].state]++;
	return t;
}

static enum ls_val_state state_of(const struct tally *t)
{
	if (t->n[LS_VAL_DIFFERS])
		return LS_VAL_DIFFERS;
	return t->n[LS_VAL_NOT_RUN] || !t->n[LS_VAL_PASSED] ? LS_VAL_NOT_RUN : LS_VAL_PASSED;
}

const char *ls_validate_verdict(const struct ls_validate_report *r)
{
	static const char *const names[] = {"green", "differs", "incomplete"};
	return names[ls_val_verdict(r->val)];
}

int ls_validate_status(const struct ls_validate_report *r)
{
	static const int status[] = {LS_EXIT_YES, LS_EXIT_NO, LS_EXIT_UNKNOWN};
	return status[ls_val_verdict(r->val)];
}

/* --- the checklist --- */

static void describe(struct ls_validate_item *item, const char *title, const struct tally *t,
		     const char *what)
{
	item->title = title;
	item->state = state_of(t);
	snprintf(item->detail, sizeof item->detail, "%zu of %zu %s%s", t->n[LS_VAL_PASSED],
		 all_of(t), what, item->state == LS_VAL_PASSED ? ", none skipped" : "");
	size_t len = strlen(item->detail);
	if (item->state != LS_VAL_PASSED)
		snprintf(item->detail + len, sizeof item->detail - len,
			 "; %zu differ, %zu could not run", t->n[LS_VAL_DIFFERS],
			 t->n[LS_VAL_NOT_RUN]);
}

/* Whether the GPUs that were seen have computed. */
static void describe_cuda(const struct ls_validate_report *r, struct ls_validate_item *item)
{
	const struct ls_fact *has = ls_facts_find(r->facts, "has_cuda");
	bool worked = r->ways->devices > 0;
	for (size_t i = 0; i < r->ways->n && worked; i++) {
		struct tally t = count(r->val, LS_VAL_GOLDEN, i);
		worked = !r->ways->ways[i].gpu || t.n[LS_VAL_NOT_RUN] < all_of(&t);
	}
	item->title = r->ways->want_cuda ? "has CUDA" : "the GPU was not asked for (--device cpu)";
	item->state = worked || !r->ways->want_cuda ? LS_VAL_PASSED : LS_VAL_NOT_RUN;
	if (!r->ways->want_cuda)
		snprintf(item->detail, sizeof item->detail, "this report speaks of the CPU alone");
	else
		snprintf(item->detail, sizeof item->detail, "%s%s", has->value,
			 r->ways->devices > 0 && !worked ? "; but it could not train there" : "");
}

void ls_validate_checklist(const struct ls_validate_report *r,
			   struct ls_validate_item ret[LS_VALIDATE_ITEMS])
{
	static const struct {
		enum ls_val_part part;
		const char *title, *what;
	} parts[] = {
		{LS_VAL_GOLDEN,
		 "golden table, on every device, thread count and build of the kernels", "digests"},
		{LS_VAL_SCORES, "predictions equal the reference's, bit by bit", "sets of scores"},
		{LS_VAL_BATCHES, "one digest at batches of 256, 4,096 and 65,536", "digests"},
		{LS_VAL_TWINS, "the same run twice, the same digest", "pairs"},
		{LS_VAL_HANDOVER,
		 "stopped on one device, resumed on another and back: the same file", "files"},
	};
	describe_cuda(r, &ret[0]);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		struct tally t = count(r->val, parts[i].part, SIZE_MAX);
		if (parts[i].part ==
		    LS_VAL_TWINS) { /* with its negative control: another seed, another digest */
			struct tally control = count(r->val, LS_VAL_CONTROL, SIZE_MAX);
			for (int s = 0; s < 3; s++)
				t.n[s] += control.n[s];
		}
		describe(&ret[1 + i], parts[i].title, &t,
			 parts[i].part == LS_VAL_TWINS ? "pairs (with another seed: another digest)"
						       : parts[i].what);
	}
}

static void add_checklist(const struct ls_validate_report *r, struct ls_str *out)
{
	struct ls_validate_item items[LS_VALIDATE_ITEMS];
	ls_validate_checklist(r, items);
	ls_str_add(out, "## Checklist\n\n");
	for (int i = 0; i < LS_VALIDATE_ITEMS; i++)
		ls_str_addf(out, "- [%s] %s: %s\n", items[i].state == LS_VAL_PASSED ? "x" : " ",
			    items[i].title, items[i].detail);
}

/* --- facts --- */

static void add_fact(struct ls_table *t, const struct ls_fact *f)
{
	char *value = f->value ? ls_xstrdup(f->value)
			       : ls_xasprintf("%s: %s", ls_fact_state_name(f->state),
					      f->reason ? f->reason : "");
	ls_table_row(t, (const char *const[]){f->key, value, f->source});
	free(value);
}

static void each_fact(const struct ls_facts *facts, void (*take)(void *, const struct ls_fact *),
		      void *context)
{
	static const char *const of_gpu[] = {"name", "capability",  "memory",
					     "ecc",  "power_limit", "throttle"};
	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
		const struct ls_fact *f = ls_facts_find(facts, shown[i]);
		if (f)
			take(context, f);
		for (size_t g = 0; strcmp(shown[i], "gpu") == 0 && g < ls_facts_gpu_count(facts);
		     g++)
			for (size_t k = 0; k < sizeof of_gpu / sizeof *of_gpu; k++)
				if ((f = ls_facts_gpu(facts, g, of_gpu[k])))
					take(context, f);
	}
}

static void fact_row(void *context, const struct ls_fact *f)
{
	add_fact(context, f);
}

static void add_facts(const struct ls_validate_report *r, struct ls_str *out)
{
	struct ls_table t;
	ls_table_init(&t, 3, (const char *const[]){"fact", "value", "source"});
	each_fact(r->facts, fact_row, &t);
	ls_str_add(out, "\n## Facts\n\n");
	ls_table_markdown(&t, out);
	ls_table_done(&t);
}

static void fact_json(void *context, const struct ls_fact *f)
{
	json_t *o = json_object();
	json_object_set_new(o, "key", json_string(f->key));
	json_object_set_new(o, "state", json_string(ls_fact_state_name(f->state)));
	json_object_set_new(o, "value", f->value ? ls_json_lossy(f->value) : json_null());
	json_object_set_new(o, "source", ls_json_lossy(f->source));
	json_object_set_new(o, "reason", f->reason ? ls_json_lossy(f->reason) : json_null());
	json_array_append_new(context, o);
}

json_t *ls_validate_facts_json(const struct ls_validate_report *r)
{
	json_t *list = json_array();
	each_fact(r->facts, fact_json, list);
	return list;
}

/* --- digests --- */

static void cell_number(char ret[24], size_t n)
{
	snprintf(ret, 24, "%zu", n);
}

static void add_counts(const struct ls_validate_report *r, struct ls_str *out)
{
	struct ls_table t;
	ls_table_init(&t, 5,
		      (const char *const[]){"check", "on", "passed", "differ", "could not run"});
	for (int part = 0; part < LS_VAL_PARTS; part++)
		for (size_t way = 0; way < r->ways->n; way++) {
			struct tally n = count(r->val, (enum ls_val_part)part, way);
			char cells[3][24];
			if (!all_of(&n))
				continue;
			for (int s = 0; s < 3; s++)
				cell_number(cells[s], n.n[s]);
			ls_table_row(&t, (const char *const[]){
						 ls_val_part_name((enum ls_val_part)part),
						 r->ways->ways[way].name, cells[LS_VAL_PASSED],
						 cells[LS_VAL_DIFFERS], cells[LS_VAL_NOT_RUN]});
		}
	ls_str_addf(out, "\n## Digests\n\nThe reference is %s.\n\n", r->ways->ways[0].name);
	ls_table_markdown(&t, out);
	ls_table_done(&t);
}

static void add_differences(const struct ls_validate_report *r, struct ls_str *out)
{
	const struct ls_val *v = r->val;
	struct ls_table t;
	ls_table_init(&t, 4, (const char *const[]){"check", "cell", "on", "what"});
	for (size_t i = 0; i < v->n_checks; i++)
		if (v->checks[i].state == LS_VAL_DIFFERS)
			ls_table_row(&t, (const char *const[]){ls_val_part_name(v->checks[i].part),
							       v->checks[i].cell,
							       r->ways->ways[v->checks[i].way].name,
							       v->checks[i].reason});
	if (t.rows > 1) {
		ls_str_add(out, "\n## What differs\n\n");
		ls_table_markdown(&t, out);
	}
	ls_table_done(&t);
}

/* One line for each way and reason: where a device is missing, every check has the same
 * reason. */
static void add_gaps(const struct ls_validate_report *r, struct ls_str *out)
{
	const struct ls_val *v = r->val;
	bool any = false;
	for (size_t way = 0; way < r->ways->n; way++) {
		const char *last = "";
		for (size_t i = 0; i < v->n_checks; i++) {
			const struct ls_val_check *c = &v->checks[i];
			if (c->way != way || c->state != LS_VAL_NOT_RUN ||
			    strcmp(c->reason, last) == 0)
				continue;
			ls_str_addf(out, "%s- %s, from %s %s on: %s\n",
				    any ? "" : "\n## What could not run\n\n",
				    r->ways->ways[way].name, ls_val_part_name(c->part), c->cell,
				    c->reason);
			last = c->reason;
			any = true;
		}
	}
}

/* --- the whole --- */

void ls_validate_markdown(const struct ls_validate_report *r, struct ls_str *out)
{
	static const char *const words[] = {"green", "NOT green: something differs",
					    "NOT green: a part could not run"};
	const char *commit = ls_facts_value(r->facts, "commit");
	ls_str_addf(out, "# Lockstep validation: %s%s\n\n", words[ls_val_verdict(r->val)],
		    r->ways->want_cuda ? "" : " (CPU alone)");
	ls_str_addf(out, "`lockstep validate --%s%s`, %s, commit %s, %.1f s.\n\n",
		    r->full ? "full" : "quick", r->ways->want_cuda ? "" : " --device cpu",
		    r->created, commit ? commit : "unknown", r->val->seconds);
	add_checklist(r, out);
	add_facts(r, out);
	add_counts(r, out);
	add_differences(r, out);
	add_gaps(r, out);
}
