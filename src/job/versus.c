#include "job/versus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "job/cells.h"
#include "job/experiment.h"
#include "job/metrics.h"
#include "job/row.h"
#include "job/sql.h"

/* --- what was different --- */

static const struct {
	const char *column;
	enum ls_weight weight;
	const char *why;
} parameters[] = {
	{"seed", LS_BITS, "every random number changes"},
	{"global_batch", LS_BITS, "other batches, other gradients"},
	{"batch_size", LS_BITS, "other batches on each GPU, and other orders of summation"},
	{"accumulation", LS_BITS, "gradients are summed in other parts"},
	{"num_gpus", LS_BITS, "the sampler shards otherwise, and reductions have another order"},
	{"precision", LS_BITS, "products are rounded differently"},
	{"warmup_steps", LS_BITS, "another schedule of the learning rate"},
	{"total_steps", LS_BITS, "another length and schedule"},
	{"samples", LS_BITS, "other data"},
	{"level", LS_BITS, "another level sets other switches"},
	{"partition", LS_MAYBE, "other GPUs have other kernels"},
	{"engine", LS_HARMLESS, NULL},
	{"template", LS_HARMLESS, NULL},
	{"state", LS_HARMLESS, NULL},
};

static void add_cells(struct ls_differences *d, enum ls_weight weight, const char *what,
		      const json_t *a, const json_t *b, const char *why)
{
	char *x = ls_cell_text(a, true), *y = ls_cell_text(b, true);
	if (strcmp(x, y) != 0)
		ls_differences_add(d, weight, what, *x ? x : "-", *y ? y : "-", why);
	free(x);
	free(y);
}

static void compare_settings(struct ls_differences *d, const json_t *a, const json_t *b)
{
	json_t *all = json_copy((json_t *)(uintptr_t)a), *v;
	const char *key;
	if (!all)
		all = json_object();
	json_object_update(all, (json_t *)(uintptr_t)b);
	json_object_foreach(all, key, v)
	{
		char *what = ls_xasprintf("set.%s", key);
		add_cells(d, LS_BITS, what, json_object_get(a, key), json_object_get(b, key),
			  "a setting of the command");
		free(what);
	}
	json_decref(all);
}

static void compare_parameters(struct ls_versus *v)
{
	for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
		add_cells(&v->d, parameters[i].weight, parameters[i].column,
			  ls_cell(v->row[0], parameters[i].column),
			  ls_cell(v->row[1], parameters[i].column), parameters[i].why);
	compare_settings(&v->d, json_object_get(v->row[0], "settings"),
			 json_object_get(v->row[1], "settings"));
}

/* What manifest diff reads, from what was recorded when the experiment was made. */
static json_t *planned(const json_t *row)
{
	json_t *facts = json_array(), *value;
	const char *key;
	json_object_foreach(json_object_get(row, "environment"), key, value)
		json_array_append_new(facts, json_pack("{s:s,s:O}", "key", key, "value", value));
	return json_pack("{s:O?,s:O?,s:o}", "command", json_object_get(row, "command"), "git",
			 json_object_get(row, "git"), "environment", facts);
}

/* The manifest of its last attempt. Its command has the output folder in it, so the one
 * with placeholders stands for it. */
static json_t *manifest_of(const json_t *row)
{
	json_t *m = json_copy(json_object_get(row, "manifest"));
	json_object_set(m, "command", json_object_get(row, "command"));
	return m;
}

/* What is told elsewhere, or follows from the experiment's name. */
static bool told(const char *what)
{
	static const char *const prefixes[] = {"outputs.", "out",
					       "result.",  "environment.env.LOCKSTEP_",
					       "cwd",      "policy.seed",
					       "host",     "policy.env.LOCKSTEP_",
					       "seeds.",   "policy.env.PYTHONPATH"};
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (strncmp(what, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static void compare_manifests(struct ls_versus *v)
{
	struct ls_differences d = {0};
	v->manifests = json_is_object(json_object_get(v->row[0], "manifest")) &&
		       json_is_object(json_object_get(v->row[1], "manifest"));
	json_t *a = v->manifests ? manifest_of(v->row[0]) : planned(v->row[0]);
	json_t *b = v->manifests ? manifest_of(v->row[1]) : planned(v->row[1]);
	ls_manifest_diff(a, b, &d);
	for (size_t i = 0; i < d.n; i++)
		if (!told(d.items[i].what))
			ls_differences_add(&v->d, d.items[i].weight, d.items[i].what, d.items[i].a,
					   d.items[i].b, d.items[i].why);
	ls_differences_done(&d);
	json_decref(a);
	json_decref(b);
}

/* --- what came out --- */

static bool is_measured(const char *name)
{
	static const char *const words[] = {"seconds",  "threads",   "time",       "runtime",
					    "duration", "elapsed",   "timestamp",  "_timestamp",
					    "_runtime", "wall_time", "throughput", NULL};
	static const char *const ends[] = {"_seconds",    "_time",    "_runtime",
					   "_per_second", "_per_sec", NULL};
	const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
	for (size_t i = 0; words[i]; i++)
		if (strcmp(last, words[i]) == 0)
			return true;
	for (size_t i = 0; ends[i]; i++)
		if (ls_str_ends(last, ends[i]))
			return true;
	return false;
}

static void compare_metric(struct ls_versus *v, const char *name, const json_t *curves)
{
	struct ls_versus_metric m = {.name = ls_xstrdup(name)};
	for (int i = 0; i < 2; i++) {
		const json_t *value = ls_metric_value(v->row[i], name);
		m.value[i] = ls_metric_of_json(value, &m.has[i]);
		m.points[i] = (size_t)ls_col_int(
			json_object_get(json_object_get(v->row[i], "metrics"), name), "points", 0);
	}
	const json_t *c = json_object_get(curves, name);
	m.steps = (size_t)ls_col_int(c, "steps", 0);
	m.steps_differ = (size_t)ls_col_int(c, "differ", 0);
	m.first = ls_col_int(c, "first", 0);
	bool both = m.has[0] && m.has[1];
	m.equal = both && m.steps_differ == 0 && m.points[0] == m.points[1] &&
		  (m.value[0] == m.value[1] || (isnan(m.value[0]) && isnan(m.value[1])));
	m.measured = is_measured(name);
	v->metrics_equal += m.equal && !m.measured;
	v->metrics_differ += both && !m.equal && !m.measured;
	v->metrics = ls_grow(v->metrics, v->n_metrics, &v->cap_metrics, sizeof *v->metrics);
	v->metrics[v->n_metrics++] = m;
}

/* {metric: {"steps", "differ", "first"}} of the steps that both have; NULL, not a number,
 * is equal to itself. */
static int compare_curves(struct ls_store *s, const struct ls_versus *v, json_t *to,
			  struct ls_err *err)
{
	json_t *rows = NULL, *row;
	size_t i;
	int rc = ls_sql_all(
		s, &rows, err,
		"SELECT name, count(*) AS steps,"
		" count(*) FILTER (WHERE a.value IS NOT b.value) AS differ,"
		" min(step) FILTER (WHERE a.value IS NOT b.value) AS first"
		" FROM metric a JOIN metric b USING(name, step) WHERE a.experiment = ? AND"
		" a.attempt = ? AND b.experiment = ? AND b.attempt = ? GROUP BY name",
		"iiii", ls_col_int(v->row[0], "id", 0), ls_col_int(v->row[0], "attempt", 0),
		ls_col_int(v->row[1], "id", 0), ls_col_int(v->row[1], "attempt", 0));
	json_array_foreach(rows, i, row) json_object_set(to, ls_col_text(row, "name"), row);
	json_decref(rows);
	return rc;
}

static int compare_metrics(struct ls_store *s, struct ls_versus *v, struct ls_err *err)
{
	json_t *curves = json_object();
	int rc = compare_curves(s, v, curves, err);
	json_t *all = json_copy(json_object_get(v->row[0], "metrics")), *value;
	const char *key;
	json_object_update(all, json_object_get(v->row[1], "metrics"));
	json_object_foreach(all, key, value) compare_metric(v, key, curves);
	json_decref(all);
	json_decref(curves);
	return rc;
}

static const json_t *digest_of(const json_t *row, const char *path)
{
	const json_t *f;
	size_t i;
	json_array_foreach(json_object_get(row, "artifacts"), i, f)
	{
		if (strcmp(ls_col_text(f, "path"), path) == 0)
			return json_object_get(f, "sha256");
	}
	return NULL;
}

static bool is_log(const struct ls_versus *v, const char *path)
{
	const json_t *source;
	size_t i, sides = 0;
	for (int side = 0; side < 2; side++)
		json_array_foreach(json_object_get(v->row[side], "sources"), i, source) sides +=
			strcmp(ls_col_text(source, "source"), path) == 0;
	return sides == 2;
}

static void compare_file(struct ls_versus *v, const char *path, const json_t *a, const json_t *b)
{
	const char *how = !a                 ? "only in B"
			  : !b               ? "only in A"
			  : json_equal(a, b) ? "equal"
			  : is_log(v, path)  ? "log"
					     : "differs";
	v->files_equal += strcmp(how, "equal") == 0;
	v->files_differ += strcmp(how, "equal") != 0 && strcmp(how, "log") != 0;
	json_object_set_new(v->files, path, json_string(how));
}

/* Without both manifests it is not known what was written. */
static void compare_files(struct ls_versus *v)
{
	const json_t *f;
	size_t i;
	v->files = json_object();
	for (int side = 0; side < 2 && v->manifests; side++)
		json_array_foreach(json_object_get(v->row[side], "artifacts"), i, f)
		{
			const char *path = ls_col_text(f, "path");
			if (!json_object_get(v->files, path))
				compare_file(v, path, digest_of(v->row[0], path),
					     digest_of(v->row[1], path));
		}
}

/* --- what follows --- */

/* The names of the differences of a weight, at most `most`. */
static size_t suspects(const struct ls_versus *v, enum ls_weight weight, size_t most,
		       struct ls_str *out)
{
	size_t n = 0;
	for (size_t i = 0; i < v->d.n; i++) {
		if (v->d.items[i].weight != weight)
			continue;
		if (n < most)
			ls_str_addf(out, "%s%s", n ? ", " : "", v->d.items[i].what);
		n++;
	}
	if (n > most)
		ls_str_addf(out, " and %zu more", n - most);
	return n;
}

static void explain(const struct ls_versus *v, struct ls_str *out)
{
	enum { MOST = 8 };
	struct ls_str names = {0};
	size_t n = suspects(v, LS_BITS, MOST, &names);
	bool sure = n > 0;
	if (!sure)
		n = suspects(v, LS_MAYBE, MOST, &names);
	if (n == 0)
		ls_str_addf(out,
			    " Nothing that was recorded explains it: the program may not repeat "
			    "itself (`lockstep verify` shows that)%s",
			    v->manifests ? "."
					 : ", or something differs that only a manifest has "
					   "(`exp new --level 1` leaves one).");
	else if (n == 1)
		ls_str_addf(out,
			    " Only %s was different that %s: it explains the rest, if the "
			    "program repeats itself.",
			    names.s, sure ? "can change bits" : "may change bits");
	else
		ls_str_addf(out, " Any of these %s it: %s. Change one at a time.",
			    sure ? "can explain" : "may explain", names.s);
	ls_str_done(&names);
}

static bool seeds_differ(const struct ls_versus *v)
{
	return !json_equal(json_object_get(v->row[0], "seed"), json_object_get(v->row[1], "seed"));
}

/* "2 of 3 metrics and 1 file"; what there is none of is left out. */
static void add_counts(const struct ls_versus *v, bool differ, struct ls_str *out)
{
	const struct {
		size_t equal, differ;
		const char *name;
	} parts[] = {{v->metrics_equal, v->metrics_differ, "metric"},
		     {v->files_equal, v->files_differ, "file"}};
	const char *between = "";
	for (size_t i = 0; i < 2; i++) {
		size_t all = parts[i].equal + parts[i].differ;
		if (all == 0)
			continue;
		ls_str_add(out, between);
		if (differ)
			ls_str_addf(out, "%zu of ", parts[i].differ);
		ls_str_addf(out, "%zu %s%s", all, parts[i].name, all == 1 ? "" : "s");
		between = " and ";
	}
}

static void judge(struct ls_versus *v)
{
	struct ls_str out = {0};
	if (v->metrics_equal + v->metrics_differ + v->files_equal + v->files_differ == 0) {
		v->verdict = LS_VERSUS_UNKNOWN;
		ls_str_add(&out, "Their results cannot be compared: they share no metric and no "
				 "digest of a file. `lockstep exp harvest` reads metrics, and `exp "
				 "new --level 1` leaves digests.");
	} else if (v->metrics_differ + v->files_differ == 0) {
		v->verdict = LS_VERSUS_SAME;
		ls_str_add(&out, "The same came out: ");
		add_counts(v, false, &out);
		ls_str_add(&out,
			   v->metrics_equal + v->files_equal == 1 ? " is equal." : " are equal.");
	} else {
		v->verdict = LS_VERSUS_DIFFER;
		add_counts(v, true, &out);
		ls_str_add(&out,
			   v->metrics_differ + v->files_differ == 1 ? " differs." : " differ.");
		explain(v, &out);
		if (seeds_differ(v))
			ls_str_add(&out, " The seeds differ: one pair of runs says nothing of the "
					 "rest; `lockstep exp variance` compares groups of seeds.");
	}
	v->sentence = ls_str_take(&out);
}

/* --- reading --- */

static int read_row(struct ls_store *s, const char *name, json_t **ret, struct ls_err *err)
{
	json_t *row = NULL, *last = NULL, *files = NULL, *sources = NULL;
	int rc = ls_experiment_get(s, name, &row, err);
	json_t *rows = json_pack("[O?]", row);
	if (!rc)
		rc = ls_metrics_attach(s, rows, err);
	json_decref(rows);
	int64_t id = ls_col_int(row, "id", 0), attempt = ls_col_int(row, "attempt", 0);
	if (!rc)
		rc = ls_sql_one(s, &last, err,
				"SELECT manifest AS json_manifest FROM attempt WHERE experiment = ?"
				" AND number = ?",
				"ii", id, attempt);
	if (!rc)
		rc = ls_sql_all(s, &files, err,
				"SELECT path, sha256 FROM artifact WHERE experiment = ? AND"
				" attempt = ? ORDER BY path",
				"ii", id, attempt);
	if (!rc)
		rc = ls_sql_all(s, &sources, err,
				"SELECT DISTINCT source FROM metric WHERE experiment = ? AND"
				" attempt = ?",
				"ii", id, attempt);
	if (!rc) {
		json_object_set(row, "manifest", json_object_get(last, "manifest"));
		json_object_set(row, "artifacts", files);
		json_object_set(row, "sources", sources);
		*ret = json_incref(row);
	}
	json_decref(row);
	json_decref(last);
	json_decref(files);
	json_decref(sources);
	return rc;
}

static int by_weight(const void *a, const void *b)
{
	const struct ls_difference *x = a, *y = b;
	int rank_x = x->weight == LS_HARMLESS ? LS_RESULT + 1 : (int)x->weight;
	int rank_y = y->weight == LS_HARMLESS ? LS_RESULT + 1 : (int)y->weight;
	return rank_x != rank_y ? rank_x - rank_y : strcmp(x->what, y->what);
}

int ls_versus_make(struct ls_store *s, const char *a, const char *b, struct ls_versus *ret,
		   struct ls_err *err)
{
	struct ls_versus v = {0};
	int rc = read_row(s, a, &v.row[0], err);
	if (!rc)
		rc = read_row(s, b, &v.row[1], err);
	if (!rc)
		rc = compare_metrics(s, &v, err);
	if (rc) {
		ls_versus_done(&v);
		return rc;
	}
	compare_parameters(&v);
	compare_manifests(&v);
	if (v.d.n)
		qsort(v.d.items, v.d.n, sizeof *v.d.items, by_weight);
	compare_files(&v);
	judge(&v);
	*ret = v;
	return 0;
}

void ls_versus_done(struct ls_versus *v)
{
	for (size_t i = 0; i < v->n_metrics; i++)
		free(v->metrics[i].name);
	free(v->metrics);
	free(v->sentence);
	ls_differences_done(&v->d);
	json_decref(v->files);
	json_decref(v->row[0]);
	json_decref(v->row[1]);
	*v = (struct ls_versus){0};
}
