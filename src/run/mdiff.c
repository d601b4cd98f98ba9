/* Compares two manifests and ranks the differences: those that can change bits first,
 * then those that may, then results, then the rest. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/table.h"
#include "run/ktrace.h"
#include "run/manifest.h"

const char *ls_weight_name(enum ls_weight w)
{
	static const char *const names[] = {"can change bits", "may change bits",
					    "does not change bits", "what came out"};
	return names[w];
}

void ls_differences_add(struct ls_differences *d, enum ls_weight weight, const char *what,
			const char *a, const char *b, const char *why)
{
	d->items = ls_grow(d->items, d->n, &d->cap, sizeof *d->items);
	d->items[d->n++] = (struct ls_difference){weight, ls_xstrdup(what), ls_xstrdup(a),
						  ls_xstrdup(b), why ? ls_xstrdup(why) : NULL};
}

void ls_differences_done(struct ls_differences *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->items[i].what);
		free(d->items[i].a);
		free(d->items[i].b);
		free(d->items[i].why);
	}
	free(d->items);
	*d = (struct ls_differences){0};
}

void ls_differences_text(const struct ls_differences *d, struct ls_str *out)
{
	const char *const heading[] = {"WHAT", "A", "B", "WHY"};
	for (int w = LS_BITS; w <= LS_RESULT; w++) {
		struct ls_table t;
		ls_table_init(&t, 4, heading);
		for (size_t i = 0; i < d->n; i++) {
			const struct ls_difference *x = &d->items[i];
			const char *const row[] = {x->what, x->a, x->b, x->why};
			if ((int)x->weight == w)
				ls_table_row(&t, row);
		}
		if (t.rows > 1) {
			ls_str_addf(out, "%s:\n", ls_weight_name((enum ls_weight)w));
			ls_table_text(&t, out);
			ls_str_add(out, "\n");
		}
		ls_table_done(&t);
	}
}

json_t *ls_differences_json(const struct ls_differences *d)
{
	json_t *list = json_array();
	for (size_t i = 0; i < d->n; i++) {
		const struct ls_difference *x = &d->items[i];
		json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s,s:s?}", "weight",
						      ls_weight_name(x->weight), "what", x->what,
						      "a", x->a, "b", x->b, "why", x->why));
	}
	return json_pack("{s:o}", "differences", list);
}

/* --- the rules --- */

struct rule {
	const char *prefix; /* of the dotted path; the first that fits decides */
	enum ls_weight weight;
	const char *why;
};

static const struct rule rules[] = {
	{"policy.seed", LS_BITS, "every random number changes"},
	{"policy.level", LS_BITS, "another level sets other switches"},
	{"policy.precision", LS_BITS, "products are rounded differently"},
	{"policy.env.PYTHONPATH", LS_HARMLESS, NULL},
	{"policy.env.LOCKSTEP_", LS_HARMLESS, NULL},
	{"policy.env.CUDA_INJECTION64_PATH", LS_HARMLESS, NULL},
	{"policy.env.OMP_NUM_THREADS", LS_BITS, "sums are split over threads"},
	{"policy.trace", LS_MAYBE, "tracing operations switches some fused paths off"},
	{"policy.", LS_BITS, NULL},
	{"command", LS_BITS, "another command"},
	{"git.commit", LS_BITS, "other source code"},
	{"git.diff_sha256", LS_BITS, "other changes to the source that are not committed"},
	{"git.dirty", LS_BITS, "changes to the source that are not committed"},
	{"git.", LS_HARMLESS, NULL},
	{"inputs.", LS_BITS, "other data"},
	{"modules.", LS_BITS, "another version of the library"},
	{"packages.", LS_BITS, "another version of a package that the program imports"},
	{"sources.", LS_BITS, "the program's own code or configuration"},
	{"seeds.", LS_BITS, NULL},
	{"seeded.", LS_BITS, "the program's own seed"},
	{"global_batch.accumulate", LS_BITS,
	 "gradient accumulation: other batches, other gradients"},
	{"global_batch.workers", LS_MAYBE, "each loader worker draws its own random numbers"},
	{"global_batch.", LS_BITS, "other batches, other gradients"},
	{"training.framework.world_size", LS_BITS, "other batches, other gradients"},
	{"training.schedulers.", LS_BITS, "another schedule of the learning rate"},
	{"training.", LS_BITS, "the optimizer, its settings or its steps"},
	{"undone.", LS_BITS, "the program changed the policy in one run only"},
	{"settings.torch.initial_seed", LS_BITS, "the program seeded itself differently"},
	{"settings.torch.num_threads", LS_BITS, "sums are split over threads"},
	{"settings.", LS_BITS, "a switch stood differently at the end"},
	{"kernel", LS_BITS, "another kernel ran: the library chose another algorithm"},
	{"environment.gpu_count", LS_BITS, "reductions have another order"},
	{"environment.gpu.", LS_MAYBE, NULL},
	{"environment.torch", LS_BITS, "other kernels"},
	{"environment.cudnn", LS_BITS, "other convolution kernels"},
	{"environment.cublas", LS_BITS, "other matrix kernels"},
	{"environment.cuda", LS_BITS, "other kernels"},
	{"environment.nccl", LS_BITS, "other reductions between GPUs"},
	{"environment.python", LS_MAYBE, NULL},
	{"environment.driver", LS_MAYBE, "code compiled at run time may differ"},
	{"environment.cpu.count", LS_MAYBE, "the number of threads follows it"},
	{"environment.cpu", LS_MAYBE, "libraries choose code by processor"},
	{"environment.arch", LS_BITS, "another instruction set"},
	{"environment.glibc", LS_MAYBE, "libm may round differently"},
	{"environment.package.", LS_MAYBE, NULL},
	{"environment.env.PWD", LS_HARMLESS, NULL},
	{"environment.env.OLDPWD", LS_HARMLESS, NULL},
	{"environment.env.SHLVL", LS_HARMLESS, NULL},
	{"environment.env._", LS_HARMLESS, NULL},
	{"environment.env.TERM", LS_HARMLESS, NULL},
	{"environment.env.SSH_", LS_HARMLESS, NULL},
	{"environment.env.XDG_", LS_HARMLESS, NULL},
	{"environment.env.TMUX", LS_HARMLESS, NULL},
	{"environment.env.LS_COLORS", LS_HARMLESS, NULL},
	{"environment.env.", LS_MAYBE, "a variable that the program may read"},
	{"environment.", LS_HARMLESS, NULL},
	{"result.", LS_RESULT, NULL},
	{"outputs.", LS_RESULT, NULL},
	{"", LS_HARMLESS, NULL},
};

static const struct rule *rule_for(const char *what)
{
	const struct rule *r = rules;
	while (strncmp(what, r->prefix, strlen(r->prefix)) != 0)
		r++;
	return r;
}

static char *value_text(const json_t *v)
{
	if (!v)
		return ls_xstrdup("-");
	if (json_is_string(v))
		return ls_xstrdup(json_string_value(v));
	char *s = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
	return s ? s : ls_xstrdup("?");
}

static void differ(struct ls_differences *d, const char *what, const json_t *a, const json_t *b)
{
	const struct rule *r = rule_for(what);
	static const char unknown[] = "unknown";
	bool counts = ls_str_starts(what, "global_batch.") || ls_str_starts(what, "training.");
	char *x = counts && json_is_null(a) ? ls_xstrdup(unknown) : value_text(a);
	char *y = counts && json_is_null(b) ? ls_xstrdup(unknown) : value_text(b);
	ls_differences_add(d, r->weight, what, x, y, r->why);
	free(x);
	free(y);
}

static void compare_value(struct ls_differences *d, const char *what, const json_t *a,
			  const json_t *b)
{
	if ((a || b) && !(a && b && json_equal(a, b)))
		differ(d, what, a, b);
}

/* Keys of both objects, each compared as "prefix.key". */
static void compare_objects(struct ls_differences *d, const char *prefix, const json_t *a,
			    const json_t *b)
{
	const char *key;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)a, key, v)
	{
		char *what = ls_xasprintf("%s.%s", prefix, key);
		compare_value(d, what, v, json_object_get(b, key));
		free(what);
	}
	json_object_foreach((json_t *)(uintptr_t)b, key, v)
	{
		if (json_object_get(a, key))
			continue;
		char *what = ls_xasprintf("%s.%s", prefix, key);
		compare_value(d, what, NULL, v);
		free(what);
	}
}

/* Objects and arrays down to their leaves, each compared as "prefix.key" or
 * "prefix.number". */
static void compare_trees(struct ls_differences *d, const char *prefix, const json_t *a,
			  const json_t *b)
{
	const char *key;
	json_t *v;
	if (!json_is_object(a) || !json_is_object(b)) {
		compare_value(d, prefix, a, b);
		return;
	}
	json_object_foreach((json_t *)(uintptr_t)a, key, v)
	{
		char *what = ls_xasprintf("%s.%s", prefix, key);
		compare_trees(d, what, v, json_object_get(b, key));
		free(what);
	}
	json_object_foreach((json_t *)(uintptr_t)b, key, v)
	{
		char *what = ls_xasprintf("%s.%s", prefix, key);
		if (!json_object_get(a, key))
			compare_value(d, what, NULL, v);
		free(what);
	}
}

/* The optimizers or schedulers of a training by their number, without the lines that made
 * them: those move with any change of the source. */
static json_t *by_number(const json_t *m, const char *what)
{
	size_t i;
	json_t *e, *map = json_object();
	json_array_foreach(json_object_get(json_object_get(m, "training"), what), i, e)
	{
		char number[32];
		json_t *copy = json_copy(e);
		json_object_del(copy, "where");
		snprintf(number, sizeof number, "%zu", i);
		json_object_set_new(map, number, copy);
	}
	return map;
}

static void compare_training(struct ls_differences *d, const json_t *a, const json_t *b)
{
	static const char *const lists[] = {"optimizers", "schedulers"};
	for (size_t i = 0; i < 2; i++) {
		char *what = ls_xasprintf("training.%s", lists[i]);
		json_t *x = by_number(a, lists[i]), *y = by_number(b, lists[i]);
		compare_trees(d, what, x, y);
		json_decref(x);
		json_decref(y);
		free(what);
	}
	const json_t *x = json_object_get(json_object_get(a, "training"), "framework");
	const json_t *y = json_object_get(json_object_get(b, "training"), "framework");
	if (x || y)
		compare_trees(d, "training.framework", x, y);
}

/* Paths below the folder in which a run was started are told from there: two checkouts of
 * one program have the same names. */
static json_t *sources(const json_t *m)
{
	const char *cwd = json_string_value(json_object_get(m, "cwd")), *path;
	size_t n = cwd ? strlen(cwd) : 0;
	json_t *digest, *map = json_object();
	json_object_foreach(json_object_get(m, "sources"), path, digest)
	{
		bool below = n && strncmp(path, cwd, n) == 0 && path[n] == '/';
		json_object_set(map, below ? path + n + 1 : path, digest);
	}
	return map;
}

static void compare_sources(struct ls_differences *d, const json_t *a, const json_t *b)
{
	json_t *x = sources(a), *y = sources(b);
	compare_objects(d, "sources", x, y);
	json_decref(x);
	json_decref(y);
}

/* What the program seeded a library with, in the order of the calls. */
static json_t *seeded(const json_t *m)
{
	size_t i;
	json_t *e, *map = json_object();
	json_array_foreach(json_object_get(json_object_get(m, "hook"), "seeded"), i, e)
	{
		const char *library = json_string_value(json_object_get(e, "library"));
		if (!library)
			continue;
		json_t *list = json_object_get(map, library);
		if (!list)
			json_object_set_new(map, library, list = json_array());
		json_array_append(list, json_object_get(e, "value"));
	}
	return map;
}

static void compare_seeded(struct ls_differences *d, const json_t *a, const json_t *b)
{
	json_t *x = seeded(a), *y = seeded(b);
	compare_objects(d, "seeded", x, y);
	json_decref(x);
	json_decref(y);
}

/* A list of objects as one object: the text under key names an entry, value is what it
 * has. */
static json_t *by_key(const json_t *list, const char *key, const char *value)
{
	size_t i;
	json_t *e, *map = json_object();
	json_array_foreach((json_t *)(uintptr_t)list, i, e)
	{
		const char *name = json_string_value(json_object_get(e, key));
		json_t *v = json_object_get(e, value);
		if (name)
			json_object_set(map, name, v ? v : json_null());
	}
	return map;
}

static void compare_lists(struct ls_differences *d, const char *what, const json_t *a,
			  const json_t *b, const char *key, const char *value)
{
	json_t *x = by_key(a, key, value), *y = by_key(b, key, value);
	compare_objects(d, what, x, y);
	json_decref(x);
	json_decref(y);
}

static json_t *env_values(const json_t *m)
{
	const char *name;
	json_t *v, *map = json_object();
	json_object_foreach(json_object_get(json_object_get(m, "policy"), "env"), name, v)
	{
		const char *value = json_string_value(json_object_get(v, "value"));
		json_object_set_new(map, name, json_string(value ? value : "(not set)"));
	}
	return map;
}

static void compare_policy(struct ls_differences *d, const json_t *a, const json_t *b)
{
	json_t *x = json_copy(json_object_get(a, "policy")),
	       *y = json_copy(json_object_get(b, "policy"));
	json_t *ex = env_values(a), *ey = env_values(b);
	json_t *ox = json_object_get(x, "observed_env"), *oy = json_object_get(y, "observed_env");
	compare_objects(d, "environment.env", ox, oy);
	static const char *const apart[] = {"env", "observed_env", "level_name"};
	for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
		json_object_del(x, apart[i]);
		json_object_del(y, apart[i]);
	}
	compare_objects(d, "policy", x, y);
	compare_objects(d, "policy.env", ex, ey);
	json_decref(x);
	json_decref(y);
	json_decref(ex);
	json_decref(ey);
}

/* The settings that the first interpreter read back at its end. */
static const json_t *settings(const json_t *m)
{
	size_t i;
	json_t *e;
	json_array_foreach(json_object_get(json_object_get(m, "hook"), "interpreters"), i, e)
	{
		const json_t *s = json_object_get(e, "settings");
		if (json_object_size(s))
			return s;
	}
	return NULL;
}

static char *trace_path(const json_t *m, const json_t *log)
{
	const char *out = json_string_value(json_object_get(m, "out")),
		   *file = json_string_value(json_object_get(log, "file"));
	return out && file && !strchr(file, '/') ? ls_xasprintf("%s/run_trace/%s", out, file)
						 : NULL;
}

static void compare_kernel_log(struct ls_differences *d, size_t n, const char *a, const char *b)
{
	struct ls_kernel_parting p;
	struct ls_err err;
	if (ls_ktrace_part(a, b, &p, &err)) {
		ls_differences_add(d, LS_MAYBE, "kernels", a, b, err.msg);
		return;
	}
	if (p.differs) {
		char *what =
			ls_xasprintf("kernel %llu of process %zu", (unsigned long long)p.at, n);
		ls_differences_add(d, LS_BITS, what, p.a, p.b,
				   "another kernel ran: the library chose another algorithm");
		free(what);
	}
	ls_kernel_parting_done(&p);
}

/* Only logs whose digests differ are read again. */
static void compare_kernels(struct ls_differences *d, const json_t *a, const json_t *b)
{
	const json_t *la = json_object_get(json_object_get(a, "trace"), "kernels");
	const json_t *lb = json_object_get(json_object_get(b, "trace"), "kernels");
	for (size_t i = 0; i < json_array_size(la) && i < json_array_size(lb); i++) {
		const json_t *x = json_array_get(la, i), *y = json_array_get(lb, i);
		if (json_equal(json_object_get(x, "digest"), json_object_get(y, "digest")))
			continue;
		char *pa = trace_path(a, x), *pb = trace_path(b, y);
		if (pa && pb)
			compare_kernel_log(d, i, pa, pb);
		free(pa);
		free(pb);
	}
}

static int by_weight(const void *a, const void *b)
{
	static const int rank[] = {
		[LS_BITS] = 0, [LS_MAYBE] = 1, [LS_RESULT] = 2, [LS_HARMLESS] = 3};
	const struct ls_difference *x = a, *y = b;
	if (x->weight != y->weight)
		return rank[x->weight] - rank[y->weight];
	int order = strcmp(x->what, y->what);
	if (!order)
		order = strcmp(x->a, y->a);
	return order ? order : strcmp(x->b, y->b);
}

/* The facts and the observed environment may both have a variable: it is told once. The
 * differences are sorted. */
static void drop_repeated(struct ls_differences *d)
{
	size_t kept = 0;
	for (size_t i = 0; i < d->n; i++) {
		struct ls_difference *x = &d->items[i];
		if (!kept || !ls_str_starts(x->what, "environment.env.") ||
		    strcmp(d->items[kept - 1].what, x->what) != 0) {
			d->items[kept++] = *x;
			continue;
		}
		free(x->what);
		free(x->a);
		free(x->b);
		free(x->why);
	}
	d->n = kept;
}

void ls_manifest_diff(const json_t *a, const json_t *b, struct ls_differences *ret)
{
	static const char *const plain[] = {"command", "cwd", "host", "out", "lockstep"};
	static const char *const objects[] = {"git",   "modules",      "packages",
					      "seeds", "global_batch", "result"};
	struct ls_differences d = {0};
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		compare_value(&d, plain[i], json_object_get(a, plain[i]),
			      json_object_get(b, plain[i]));
	for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
		compare_objects(&d, objects[i], json_object_get(a, objects[i]),
				json_object_get(b, objects[i]));
	compare_policy(&d, a, b);
	compare_sources(&d, a, b);
	compare_seeded(&d, a, b);
	compare_training(&d, a, b);
	compare_lists(&d, "inputs", json_object_get(a, "inputs"), json_object_get(b, "inputs"),
		      "path", "sha256");
	compare_lists(&d, "outputs", json_object_get(a, "outputs"), json_object_get(b, "outputs"),
		      "path", "sha256");
	compare_lists(&d, "environment", json_object_get(a, "environment"),
		      json_object_get(b, "environment"), "key", "value");
	compare_lists(&d, "undone", json_object_get(json_object_get(a, "hook"), "undone"),
		      json_object_get(json_object_get(b, "hook"), "undone"), "setting", "found");
	compare_objects(&d, "settings", settings(a), settings(b));
	compare_kernels(&d, a, b);
	if (d.n)
		qsort(d.items, d.n, sizeof *d.items, by_weight);
	drop_repeated(&d);
	*ret = d;
}
