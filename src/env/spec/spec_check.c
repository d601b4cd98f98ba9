#include "env/spec/spec_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/version.h"
#include "env/spec/spec_image.h"
#include "env/spec/spec_wheels.h"

struct review {
	const struct ls_spec *spec;
	const struct ls_compat *compat;
	const char *today;
	struct ls_spec_findings *out;
	const json_t *torch; /* row of the wheel that the spec pins, or NULL */
	const char *cuda; /* CUDA version that the spec's torch or else its own text stands for, or
			     NULL */
	const char *machine;
};

const char *ls_finding_kind_name(enum ls_finding_kind kind)
{
	static const char *const names[] = {"inconsistent", "missing", "ended", "note"};
	return names[kind];
}

/* text and advice become the findings'; row (or NULL) lends its source. */
static void add_take(struct review *r, enum ls_finding_kind kind, const char *key,
		     const json_t *row, char *text, char *advice)
{
	struct ls_spec_findings *f = r->out;
	const char *source = ls_row_text(row, "source");
	f->items = ls_grow(f->items, f->n, &f->cap, sizeof *f->items);
	struct ls_spec_finding *x = &f->items[f->n++];
	*x = (struct ls_spec_finding){
		.kind = kind, .key = ls_xstrdup(key), .source = source ? ls_xstrdup(source) : NULL};
	x->text = text;
	x->advice = advice;
	f->faults += kind != LS_FINDING_NOTE;
}

static const char *text_of(const struct review *r, const char *key)
{
	const struct ls_check *c = ls_spec_find(r->spec, key);
	return c ? ls_check_text(c) : "";
}

static enum ls_match accepts(const struct review *r, const char *key, const char *value)
{
	const struct ls_check *c = ls_spec_find(r->spec, key);
	return c && c->matcher && value ? ls_matcher_test(c->matcher, value) : LS_MATCH_UNKNOWN;
}

/* --- torch --- */

/* "2.5.0+cu118, 2.5.0+cu121": the builds of the release that version names. */
static void add_builds_of(const struct review *r, const struct ls_version *want, struct ls_str *out)
{
	struct ls_version have;
	for (size_t i = 0; i < ls_compat_rows(r->compat, LS_COMPAT_TORCH); i++) {
		const json_t *row = ls_compat_row(r->compat, LS_COMPAT_TORCH, i);
		if (ls_version_parse(ls_row_text(row, "torch"), &have) &&
		    ls_version_order(&have, want) == 0)
			ls_str_addf(out, "%s%s+%s", out->len ? ", " : "", ls_row_text(row, "torch"),
				    ls_row_text(row, "build"));
	}
}

/* The releases next to the wanted one that have its build (or any, where it names
 * none). */
static void add_neighbours(const struct review *r, const struct ls_version *want,
			   struct ls_str *out)
{
	struct ls_version have;
	const json_t *before = NULL, *after = NULL;
	for (size_t i = 0; i < ls_compat_rows(r->compat, LS_COMPAT_TORCH); i++) {
		const json_t *row = ls_compat_row(r->compat, LS_COMPAT_TORCH, i);
		bool build = *want->local ? strcmp(want->local, ls_row_text(row, "build")) == 0
					  : json_is_true(json_object_get(row, "default"));
		if (!build || !ls_version_parse(ls_row_text(row, "torch"), &have))
			continue;
		if (ls_version_order(&have, want) < 0)
			before = row;
		else if (ls_version_order(&have, want) > 0 && !after)
			after = row;
	}
	const json_t *near[] = {before, after};
	for (size_t i = 0; i < 2; i++)
		if (near[i])
			ls_str_addf(out, "%s%s+%s", out->len ? ", " : "",
				    ls_row_text(near[i], "torch"), ls_row_text(near[i], "build"));
}

static void torch_missing(struct review *r, const char *torch, enum ls_torch_known known)
{
	struct ls_version want;
	struct ls_str near = {0};
	if (!ls_version_parse(torch, &want))
		return;
	if (known == LS_TORCH_NO_BUILD)
		add_builds_of(r, &want, &near);
	add_neighbours(r, &want, &near);
	const json_t *any = ls_compat_row(r->compat, LS_COMPAT_TORCH, 0);
	add_take(r, LS_FINDING_MISSING, "torch", any,
		 ls_xasprintf("torch %s was never released", torch),
		 ls_xasprintf("the nearest that exist: %s", near.s ? near.s : "none in the table"));
	ls_str_done(&near);
}

static void check_torch(struct review *r)
{
	const char *torch = ls_spec_exact(r->spec, "torch");
	if (!torch)
		return;
	enum ls_torch_known known = ls_compat_torch_known(r->compat, torch);
	if (known == LS_TORCH_NO_BUILD || known == LS_TORCH_NO_RELEASE)
		torch_missing(r, torch, known);
	if (known == LS_TORCH_UNKNOWN)
		add_take(r, LS_FINDING_NOTE, "torch", NULL,
			 ls_xasprintf("torch %s is unknown to the table of %s: not checked", torch,
				      ls_compat_date(r->compat, LS_COMPAT_TORCH)),
			 NULL);
	r->torch = ls_compat_torch(r->compat, torch);
}

static void check_bundled(struct review *r)
{
	const char *torch = ls_spec_exact(r->spec, "torch"), *cuda = ls_row_text(r->torch, "cuda"),
		   *cudnn = ls_row_text(r->torch, "cudnn");
	if (accepts(r, "torch_cuda", cuda) == LS_MATCH_NO)
		add_take(r, LS_FINDING_INCONSISTENT, "torch_cuda", r->torch,
			 ls_xasprintf("torch %s is built with CUDA %s, the spec asks for %s", torch,
				      cuda, text_of(r, "torch_cuda")),
			 ls_xasprintf("\"torch_cuda\": \"%s\"", cuda));
	if (accepts(r, "cudnn", cudnn) == LS_MATCH_NO)
		add_take(r, LS_FINDING_INCONSISTENT, "cudnn", r->torch,
			 ls_xasprintf("torch %s brings cuDNN %s, the spec asks for %s", torch,
				      cudnn, text_of(r, "cudnn")),
			 ls_xasprintf("\"cudnn\": \"%.*s.x\", or a torch that brings the other",
				      (int)strcspn(cudnn, "."), cudnn));
}

static void check_pair(struct review *r, const char *package)
{
	char key[64];
	struct ls_version torch, have;
	snprintf(key, sizeof key, "package.%s", package);
	const char *pinned = ls_spec_exact(r->spec, key);
	const json_t *row =
		ls_compat_find(r->compat, LS_COMPAT_PAIRS, "torch", ls_row_text(r->torch, "torch"));
	const char *wanted = ls_row_text(row, package);
	if (!pinned || !wanted || !ls_version_parse(ls_spec_exact(r->spec, "torch"), &torch) ||
	    !ls_version_parse(pinned, &have))
		return;
	int order = 0;
	if (ls_version_compare(pinned, wanted, &order) && order != 0)
		add_take(r, LS_FINDING_INCONSISTENT, key, row,
			 ls_xasprintf("%s %s does not belong to torch %s", package, pinned,
				      ls_row_text(row, "torch")),
			 ls_xasprintf("\"%s\": \"%s%s%s\"", package, wanted,
				      *torch.local ? "+" : "", torch.local));
	else if (strcmp(torch.local, have.local) != 0)
		add_take(r, LS_FINDING_INCONSISTENT, key, row,
			 ls_xasprintf("%s %s and torch %s are of different builds", package, pinned,
				      ls_spec_exact(r->spec, "torch")),
			 ls_xasprintf("\"%s\": \"%s%s%s\"", package, wanted,
				      *torch.local ? "+" : "", torch.local));
}

/* pip looks only at the addresses that the spec names. */
static void check_indexes(struct review *r)
{
	struct ls_wheel_conflict x;
	if (!ls_wheel_conflict(r->spec, &x))
		return;
	char *address = ls_wheel_index(x.package, x.version);
	add_take(r, LS_FINDING_INCONSISTENT, "requirements", NULL,
		 ls_xasprintf("%s has no %s %s: its wheels are of another build", x.address,
			      x.package, x.version),
		 ls_xasprintf("\"extra_index\": \"%s\"", address));
	free(address);
}

/* --- Python --- */

/* Could the spec's python be some 3.minor? */
static bool admits_minor(const struct ls_matcher *m, unsigned minor)
{
	char text[32];
	snprintf(text, sizeof text, "3.%u", minor);
	if (ls_matcher_test(m, text) == LS_MATCH_YES)
		return true;
	for (unsigned patch = 0; patch < 40; patch++) {
		snprintf(text, sizeof text, "3.%u.%u", minor, patch);
		if (ls_matcher_test(m, text) == LS_MATCH_YES)
			return true;
	}
	return false;
}

static bool torch_has_python(const json_t *torch, unsigned minor)
{
	char text[32];
	int low, high;
	snprintf(text, sizeof text, "3.%u", minor);
	return ls_version_compare(text, ls_row_text(torch, "python_min"), &low) && low >= 0 &&
	       ls_version_compare(text, ls_row_text(torch, "python_max"), &high) && high <= 0;
}

static void check_python(struct review *r)
{
	enum { FIRST = 6, LAST = 20 };
	const struct ls_check *c = ls_spec_find(r->spec, "python");
	bool any = false, fits = false, alive = false;
	const json_t *ended = NULL;
	for (unsigned minor = FIRST; c && minor <= LAST; minor++) {
		char text[32];
		if (!admits_minor(c->matcher, minor))
			continue;
		any = true;
		fits |= !r->torch || torch_has_python(r->torch, minor);
		snprintf(text, sizeof text, "3.%u", minor);
		const json_t *row = ls_compat_find(r->compat, LS_COMPAT_PYTHON, "python", text);
		if (row && strcmp(ls_row_text(row, "eol"), r->today) < 0)
			ended = row;
		else
			alive = true;
	}
	if (any && !fits)
		add_take(r, LS_FINDING_INCONSISTENT, "python", r->torch,
			 ls_xasprintf("torch %s has no wheels for Python %s",
				      ls_spec_exact(r->spec, "torch"), ls_check_text(c)),
			 ls_xasprintf("it has them for %s to %s",
				      ls_row_text(r->torch, "python_min"),
				      ls_row_text(r->torch, "python_max")));
	if (any && !alive && ended)
		add_take(r, LS_FINDING_ENDED, "python", ended,
			 ls_xasprintf("Python %s reached its end of life on %s",
				      ls_row_text(ended, "python"), ls_row_text(ended, "eol")),
			 ls_xstrdup("move to a Python that still gets security fixes"));
}

/* --- drivers --- */

static const json_t *long_term_branch(const struct review *r)
{
	const json_t *best = NULL;
	for (size_t i = 0; i < ls_compat_rows(r->compat, LS_COMPAT_BRANCHES); i++) {
		const json_t *row = ls_compat_row(r->compat, LS_COMPAT_BRANCHES, i);
		if (strcmp(ls_row_text(row, "kind"), "long-term") == 0 &&
		    strcmp(ls_row_text(row, "eol"), r->today) >= 0)
			best = row;
	}
	return best;
}

static void branch_ended(struct review *r, const struct ls_check *c, const json_t *row)
{
	const json_t *alive = long_term_branch(r);
	char *advice = alive ? ls_xasprintf("R%s is supported until %s: \">=%s\"",
					    ls_row_text(alive, "branch"), ls_row_text(alive, "eol"),
					    ls_row_text(alive, "branch"))
			     : NULL;
	add_take(r, LS_FINDING_ENDED, "driver", row,
		 ls_xasprintf("driver %s admits branch R%s, which reached its end of life %s %s",
			      ls_check_text(c), ls_row_text(row, "branch"),
			      json_is_true(json_object_get(row, "eol_is_latest")) ? "no later than"
										  : "on",
			      ls_row_text(row, "eol")),
		 advice);
}

static void check_driver_for_cuda(struct review *r, const struct ls_check *c, const char *lowest)
{
	char minor[48];
	int order;
	const char *needed = r->cuda ? ls_compat_min_driver(r->compat, r->cuda) : NULL;
	if (!needed || !ls_compat_minor(r->cuda, minor, sizeof minor))
		return;
	const json_t *row = ls_compat_find(r->compat, LS_COMPAT_CUDA, "cuda", minor);
	const char *shipped = ls_row_text(row, "driver_shipped");
	if (ls_version_compare(lowest, needed, &order) && order < 0)
		add_take(
			r, LS_FINDING_INCONSISTENT, "driver", row,
			ls_xasprintf("driver %s admits drivers too old for CUDA %s, which needs %s",
				     ls_check_text(c), minor, needed),
			ls_xasprintf("\"driver\": \">=%s\"", needed));
	else if (shipped && ls_version_compare(lowest, shipped, &order) && order < 0)
		add_take(r, LS_FINDING_NOTE, "driver", row,
			 ls_xasprintf("drivers before %s run CUDA %s by minor-version "
				      "compatibility: no PTX of that version",
				      shipped, minor),
			 NULL);
}

static void check_drivers(struct review *r)
{
	bool said = false;
	for (size_t i = 0; i < r->spec->n_checks; i++) {
		const struct ls_check *c = &r->spec->checks[i];
		const char *lowest = c->matcher ? ls_matcher_lowest(c->matcher) : NULL;
		if (strcmp(c->key, "driver") != 0 || !lowest || c->level != LS_LEVEL_REQUIRED)
			continue;
		check_driver_for_cuda(r, c, lowest);
		const json_t *row = ls_compat_branch(r->compat, lowest);
		if (row && !said && strcmp(ls_row_text(row, "eol"), r->today) < 0) {
			branch_ended(r, c, row);
			said = true;
		}
	}
}

/* --- GPUs --- */

static void check_capability(struct review *r, const char *key, const char *what,
			     const char *capability)
{
	const char *list;
	if (ls_compat_runs_on(r->torch, r->machine, capability, &list) || !list)
		return;
	add_take(r, LS_FINDING_INCONSISTENT, key, r->torch,
		 ls_xasprintf("%s has compute capability %s, torch %s (%s) has code for %s only",
			      what, capability, ls_spec_exact(r->spec, "torch"), r->machine, list),
		 ls_xstrdup("a build with that architecture (older CUDA for older GPUs), or other "
			    "GPUs"));
}

static void check_gpus(struct review *r)
{
	const struct ls_check *c = ls_spec_find(r->spec, "gpus"),
			      *least = ls_spec_find(r->spec, "capability");
	const char *name, *capability = c && c->gpus ? ls_gpuset_min_capability(c->gpus) : NULL;
	for (size_t i = 0; c && c->gpus && (name = ls_gpuset_name(c->gpus, i)); i++)
		if (ls_compat_capability(r->compat, name))
			check_capability(r, "gpus", name, ls_compat_capability(r->compat, name));
	if (capability)
		check_capability(r, "gpus", "the oldest GPU asked for", capability);
	if (least && ls_matcher_lowest(least->matcher))
		check_capability(r, "hardware", "the oldest GPU asked for",
				 ls_matcher_lowest(least->matcher));
}

/* --- images --- */

static void image_ended(struct review *r, const struct ls_image_ref *ref, const json_t *image)
{
	const json_t *branch = ls_compat_find(r->compat, LS_COMPAT_BRANCHES, "branch",
					      ls_row_text(image, "branch"));
	if (!branch || strcmp(ls_row_text(branch, "eol"), r->today) >= 0)
		return;
	add_take(r, LS_FINDING_ENDED, "image", image,
		 ls_xasprintf("%s: CUDA %s images reached their end of life with driver branch R%s "
			      "(%s %s)",
			      r->spec->image.base, ref->cuda_minor, ls_row_text(branch, "branch"),
			      json_is_true(json_object_get(branch, "eol_is_latest"))
				      ? "no later than"
				      : "on",
			      ls_row_text(branch, "eol")),
		 ls_xstrdup("such tags are deleted six months later: keep a copy in your own "
			    "registry and pin its digest, "
			    "or move to an image that is alive"));
}

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	for (const char *p = list; *p; p += strcspn(p, " "), p += strspn(p, " "))
		if (strcspn(p, " ") == n && strncmp(p, word, n) == 0)
			return true;
	return false;
}

static void check_image_tag(struct review *r, const struct ls_image_ref *ref, const json_t *image)
{
	const json_t *branch = ls_compat_find(r->compat, LS_COMPAT_BRANCHES, "branch",
					      ls_row_text(image, "branch"));
	const char *tags = ls_row_text(image, "tags");
	if (has_word(tags, ref->cuda))
		return;
	/* while its branch lives a further point release may appear after the table was
	 * made */
	bool closed = branch && strcmp(ls_row_text(branch, "eol"),
				       ls_compat_date(r->compat, LS_COMPAT_IMAGES)) < 0;
	if (closed)
		add_take(r, LS_FINDING_MISSING, "image", image,
			 ls_xasprintf("%s: there was never an image of CUDA %s",
				      r->spec->image.base, ref->cuda),
			 ls_xasprintf("published: %s", tags));
	else
		add_take(r, LS_FINDING_NOTE, "image", image,
			 ls_xasprintf("image of CUDA %s is unknown to the table of %s (known: %s)",
				      ref->cuda, ls_compat_date(r->compat, LS_COMPAT_IMAGES), tags),
			 NULL);
}

static void check_image_facts(struct review *r, const struct ls_image_ref *ref)
{
	if (accepts(r, "cuda", ref->cuda) == LS_MATCH_NO)
		add_take(r, LS_FINDING_INCONSISTENT, "cuda", NULL,
			 ls_xasprintf("the image has CUDA %s, the spec asks for %s", ref->cuda,
				      text_of(r, "cuda")),
			 ls_xstrdup("make the two agree"));
	const struct ls_check *cudnn = ls_spec_find(r->spec, "cudnn");
	const char *lowest = cudnn ? ls_matcher_lowest(cudnn->matcher) : NULL;
	if (ref->cudnn && lowest && (size_t)ref->cudnn != strtoul(lowest, NULL, 10))
		add_take(r, LS_FINDING_INCONSISTENT, "cudnn", NULL,
			 ls_xasprintf("the image has cuDNN %d, the spec asks for %s", ref->cudnn,
				      text_of(r, "cudnn")),
			 ls_xstrdup("make the two agree"));
}

static void check_image(struct review *r)
{
	struct ls_image_ref ref;
	const struct ls_spec_image *image = &r->spec->image;
	if (!image->base)
		return;
	if (!image->digest)
		add_take(r, LS_FINDING_NOTE, "image", NULL,
			 ls_xasprintf("%s is not pinned by digest: a tag may be moved or deleted",
				      image->base),
			 ls_xstrdup("\"digest\": \"sha256:…\", as docker buildx imagetools inspect "
				    "prints it"));
	if (!ls_image_ref_parse(image->base, &ref) || !*ref.cuda)
		return;
	const json_t *row = ls_compat_find(r->compat, LS_COMPAT_IMAGES, "cuda", ref.cuda_minor);
	if (row) {
		check_image_tag(r, &ref, row);
		image_ended(r, &ref, row);
	}
	check_image_facts(r, &ref);
}

/* --- environment variables --- */

static void check_variables(struct review *r)
{
	static const char *const cublas[] = {":4096:8", ":16:8"};
	const char *value = ls_spec_exact(r->spec, "env.CUBLAS_WORKSPACE_CONFIG");
	if (value && strcmp(value, cublas[0]) != 0 && strcmp(value, cublas[1]) != 0)
		add_take(r, LS_FINDING_INCONSISTENT, "env.CUBLAS_WORKSPACE_CONFIG", NULL,
			 ls_xasprintf("\"%s\" is not a value with which cuBLAS is deterministic",
				      value),
			 ls_xstrdup("\":4096:8\" or \":16:8\""));
}

/* The CUDA version that a driver must run: of the wheel, or what the spec says. */
static const char *spec_cuda(const struct review *r)
{
	static const char *const keys[] = {"torch_cuda", "cuda"};
	if (r->torch)
		return ls_row_text(r->torch, "cuda");
	for (size_t i = 0; i < 2; i++) {
		const struct ls_check *c = ls_spec_find(r->spec, keys[i]);
		if (c && ls_matcher_lowest(c->matcher))
			return ls_matcher_lowest(c->matcher);
	}
	return NULL;
}

void ls_spec_check(const struct ls_spec *spec, const struct ls_compat *compat, const char *today,
		   struct ls_spec_findings *ret)
{
	*ret = (struct ls_spec_findings){0};
	const char *machine = ls_spec_exact(spec, "arch");
	struct review r = {.spec = spec,
			   .compat = compat,
			   .today = today,
			   .out = ret,
			   .machine = machine ? machine : "x86_64"};
	check_torch(&r);
	if (r.torch) {
		check_bundled(&r);
		check_pair(&r, "torchvision");
		check_pair(&r, "torchaudio");
		check_gpus(&r);
	}
	check_indexes(&r);
	check_python(&r);
	r.cuda = spec_cuda(&r);
	check_drivers(&r);
	check_image(&r);
	check_variables(&r);
	if (!ls_spec_requires(spec))
		add_take(&r, LS_FINDING_INCONSISTENT, "spec", NULL,
			 ls_xstrdup("requires nothing: a gate by it would pass on every machine"),
			 ls_xstrdup("give it a check of level required, such as \"torch\""));
}

void ls_spec_findings_done(struct ls_spec_findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->items[i].key);
		free(f->items[i].text);
		free(f->items[i].advice);
		free(f->items[i].source);
	}
	free(f->items);
	*f = (struct ls_spec_findings){0};
}

json_t *ls_spec_findings_json(const struct ls_spec_findings *f)
{
	json_t *list = json_array();
	for (size_t i = 0; i < f->n; i++) {
		const struct ls_spec_finding *x = &f->items[i];
		json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s?,s:s?}", "kind",
						      ls_finding_kind_name(x->kind), "key", x->key,
						      "text", x->text, "advice", x->advice,
						      "source", x->source));
	}
	return list;
}
