#include "env/spec/spec_upgrade.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/table.h"
#include "env/spec/calendar.h"
#include "env/spec/spec_bump.h"
#include "env/spec/spec_wheels.h"
#include "env/spec/upgrade_search.h"

static const char *lowest(const struct ls_spec *spec, const char *key)
{
	const struct ls_check *c = ls_spec_find(spec, key);
	return c && c->matcher ? ls_matcher_lowest(c->matcher) : NULL;
}

/* --- GPUs --- */

/* The lower of two capabilities; either may be NULL. */
static const char *lower(const char *a, const char *b)
{
	return !a || (b && ls_upgrade_at_least(a, b)) ? b : a;
}

const char *ls_spec_upgrade_capability(const struct ls_spec *spec, const struct ls_compat *compat)
{
	const struct ls_check *gpus = ls_spec_find(spec, "gpus");
	const char *least = lowest(spec, "capability"), *name;
	if (!gpus)
		return least;
	least = lower(least, ls_gpuset_min_capability(gpus->gpus));
	for (size_t i = 0; (name = ls_gpuset_name(gpus->gpus, i)); i++)
		least = lower(least, ls_compat_capability(compat, name));
	return least;
}

/* --- the new document --- */

static const char *text_of(const struct ls_spec *spec, const char *key)
{
	const struct ls_check *c = ls_spec_find(spec, key);
	return c ? ls_check_text(c) : NULL;
}

/* text becomes the upgrade's. */
static void by_hand_take(struct ls_upgrade_search *s, char *text)
{
	json_array_append_new(s->out->by_hand, json_string(text));
	free(text);
}

static const char *eol_of(const json_t *row)
{
	return ls_row_text(row, "eol");
}

static void part(struct ls_upgrade_search *s, const char *key, const char *now,
		 const char *now_ends, const char *next, const char *next_ends)
{
	struct ls_upgrade *u = s->out;
	if ((!now && !next) || u->n_parts == LS_UPGRADE_PARTS)
		return;
	u->parts[u->n_parts++] =
		(struct ls_upgrade_part){.key = key,
					 .now = now ? ls_xstrdup(now) : NULL,
					 .now_ends = now_ends ? ls_xstrdup(now_ends) : NULL,
					 .next = next ? ls_xstrdup(next) : NULL,
					 .next_ends = next_ends ? ls_xstrdup(next_ends) : NULL};
}

/* A pin as precise as it was, unless it takes the value already. */
static void move(struct ls_upgrade_search *s, const char *key, const char *value)
{
	const struct ls_check *c = ls_spec_find(s->spec, key);
	if (!c || !value)
		return;
	const char *now = ls_check_text(c);
	char *text = ls_matcher_test(c->matcher, value) == LS_MATCH_YES ? ls_xstrdup(now)
		     : strpbrk(now, ",<! ")                             ? ls_xstrdup(value)
					    : ls_spec_bump_text(now, value);
	if (ls_matcher_test(c->matcher, value) != LS_MATCH_YES)
		ls_spec_set_pin(s->out->doc, key, text);
	part(s, key, now, NULL, text, NULL);
	free(text);
}

static void move_torch(struct ls_upgrade_search *s)
{
	const char *now = ls_spec_exact(s->spec, "torch");
	char *old_build = ls_wheel_build(now), *value = NULL;
	bool local = !now || old_build;
	if (ls_spec_find(s->spec, "torch")) {
		value = ls_xasprintf("%s%s%s", ls_row_text(s->torch, "torch"), local ? "+" : "",
				     local ? ls_row_text(s->torch, "build") : "");
		ls_spec_set_pin(s->out->doc, "torch", value);
		part(s, "torch", text_of(s->spec, "torch"), NULL, value, NULL);
	}
	if (old_build)
		ls_spec_move_index(s->out->doc, old_build, ls_row_text(s->torch, "build"));
	free(value);
	free(old_build);
}

static void move_companion(struct ls_upgrade_search *s, const char *package, const char *key)
{
	const char *release = ls_row_text(ls_upgrade_pair(s), package);
	const char *now = text_of(s->spec, key);
	if (!now || !release)
		return;
	char *value = ls_xasprintf("%s%s%s", release, strchr(now, '+') ? "+" : "",
				   strchr(now, '+') ? ls_row_text(s->torch, "build") : "");
	move(s, key, value);
	free(value);
}

/* "driver" of the spec, or that of its hardware: raised where it is too old or has
 * ended. */
static void move_driver(struct ls_upgrade_search *s)
{
	json_t *hardware = json_object_get(s->out->doc, "hardware"),
	       *minimum = json_object_get(hardware, "minimum");
	const char *now = lowest(s->spec, "driver"), *need = ls_upgrade_driver(s);
	const json_t *branch = now ? ls_compat_branch(s->compat, now) : NULL;
	bool stays = now && ls_upgrade_alive(branch, s->today) && ls_upgrade_at_least(now, need);
	if (stays)
		s->branch = branch;
	char *text = ls_xasprintf(">=%s", need);
	if (now && !stays && json_object_get(s->out->doc, "driver"))
		ls_spec_set_pin(s->out->doc, "driver", text);
	if (!stays && json_object_get(minimum, "driver"))
		json_object_set_new(minimum, "driver", json_string(need));
	/* a recommendation below the requirement says nothing any more */
	json_t *recommended = json_object_get(hardware, "recommended");
	if (ls_upgrade_at_least(need, json_string_value(json_object_get(recommended, "driver"))))
		json_object_del(recommended, "driver");
	part(s, "driver", text_of(s->spec, "driver"), eol_of(branch),
	     stays ? text_of(s->spec, "driver") : text, eol_of(s->branch));
	free(text);
}

static void move_python(struct ls_upgrade_search *s)
{
	const char *now = lowest(s->spec, "python");
	const struct ls_check *c = ls_spec_find(s->spec, "python");
	char minor[48] = "";
	if (!c)
		return;
	bool known = now && ls_compat_minor(now, minor, sizeof minor);
	bool same = known && strcmp(minor, s->python) == 0;
	char *text = same ? ls_xstrdup(ls_check_text(c)) : ls_xasprintf("%s.x", s->python);
	if (!same)
		ls_spec_set_pin(s->out->doc, "python", text);
	if (!same && json_object_size(json_object_get(s->out->doc, "packages")))
		by_hand_take(s, ls_xasprintf("packages: chosen for Python %s; spec render "
					     "--requirements --hashes asks whether %s has them",
					     known ? minor : ls_check_text(c), s->python));
	part(s, "python", ls_check_text(c),
	     known ? eol_of(ls_compat_find(s->compat, LS_COMPAT_PYTHON, "python", minor)) : NULL,
	     text, eol_of(ls_compat_find(s->compat, LS_COMPAT_PYTHON, "python", s->python)));
	free(text);
}

/* --- images --- */

static const json_t *image_branch(const struct ls_upgrade_search *s, const json_t *image)
{
	const char *branch = ls_row_text(image, "branch");
	return branch ? ls_compat_find(s->compat, LS_COMPAT_BRANCHES, "branch", branch) : NULL;
}

/* "nvidia/cuda:12.1.1-cudnn8-runtime-ubuntu22.04" with the newest point release of the
 * row; from 12.4 on the tags have cudnn without its number. */
static char *cuda_image(const struct ls_upgrade_search *s)
{
	const char *base = s->spec->image.base, *tags = ls_row_text(s->cuda_image, "tags");
	const char *last = strrchr(tags, ' '), *colon = strrchr(base, ':');
	const char *rest = colon + 1 + strspn(colon + 1, "0123456789."), *number;
	struct ls_str out = {0};
	last = last ? last + 1 : tags;
	if (strcmp(s->image.cuda_minor, ls_row_text(s->cuda_image, "cuda")) == 0)
		return ls_xstrdup(base); /* which point release is the spec's own choice */
	ls_str_addf(&out, "%.*s:%s", (int)(colon - base), base, last);
	if (ls_str_starts(rest, "-cudnn") && ls_upgrade_at_least(last, "12.4")) {
		ls_str_add(&out, "-cudnn");
		number = rest + strlen("-cudnn");
		rest = number + strspn(number, "0123456789");
	}
	ls_str_add(&out, rest);
	return ls_str_take(&out);
}

/* "python:3.10-slim" with the Python that was chosen. */
static char *python_image(const struct ls_upgrade_search *s)
{
	const char *base = s->spec->image.base, *colon = strrchr(base, ':');
	const char *rest = colon + 1 + strspn(colon + 1, "0123456789.");
	if (strcmp(s->image.python, s->python) == 0 || !*s->python)
		return ls_xstrdup(base);
	return ls_xasprintf("%.*s:%s%s", (int)(colon - base), base, s->python, rest);
}

static void write_image(struct ls_upgrade_search *s, const char *base)
{
	json_t *image = json_object_get(s->out->doc, "image");
	if (json_is_string(image))
		json_object_set_new(s->out->doc, "image", json_string(base));
	else
		json_object_set_new(image, "base", json_string(base));
	if (json_object_del(image, "digest") == 0)
		by_hand_take(s, ls_xstrdup("image: the digest was the old image's and is "
					   "gone; pin the new one"));
	if (s->spec->image.tag)
		by_hand_take(s, ls_xstrdup("image: its tag is still that of the old image"));
}

static void move_image(struct ls_upgrade_search *s)
{
	const char *now = s->spec->image.base;
	if (!now)
		return;
	char *next = s->cuda_image ? cuda_image(s) : s->image.has_python ? python_image(s) : NULL;
	const json_t *row = *s->image.cuda ? ls_compat_find(s->compat, LS_COMPAT_IMAGES, "cuda",
							    s->image.cuda_minor)
					   : NULL;
	if (next && strcmp(next, now) != 0)
		write_image(s, next);
	if (!next)
		by_hand_take(s, ls_xstrdup("image: no table knows such images; it stays"));
	part(s, "image", now, eol_of(image_branch(s, row)), next ? next : now,
	     eol_of(image_branch(s, s->cuda_image)));
	free(next);
}

/* --- packages --- */

/* NVIDIA's wheels and triton come with torch, each release with its own. */
static bool comes_with_torch(const char *name)
{
	return ls_str_starts(name, "nvidia-") || strcmp(name, "triton") == 0 ||
	       strcmp(name, "pytorch-triton") == 0;
}

/* "cupy-cuda12x", "…-cu12": built for one CUDA. */
static bool is_for_other_cuda(const char *name, const char *cuda)
{
	const char *at = strstr(name, "-cuda");
	at = at ? at + strlen("-cuda") : strstr(name, "-cu") ? strstr(name, "-cu") + 3 : NULL;
	return at && strspn(at, "0123456789") >= 2 && strncmp(at, cuda, 2) != 0;
}

static void move_packages(struct ls_upgrade_search *s)
{
	json_t *packages = json_object_get(s->out->doc, "packages"), *value;
	const char *name, *cuda = ls_row_text(s->torch, "cuda");
	void *next;
	json_object_foreach_safe(packages, next, name, value)
	{
		char *plain = ls_spec_package_name(name), *text = NULL;
		if (comes_with_torch(plain))
			text = ls_xasprintf("%s: left out, it comes with torch", name);
		else if (is_for_other_cuda(plain, cuda))
			text = ls_xasprintf("%s: is built for another CUDA than %s", name, cuda);
		if (text)
			by_hand_take(s, text);
		if (comes_with_torch(plain))
			json_object_del(packages, name);
		free(plain);
	}
}

/* A GPU that was chosen here may be newer than those that the spec asks for. */
static void move_gpus(struct ls_upgrade_search *s, const char *capability)
{
	json_t *minimum = json_object_get(json_object_get(s->out->doc, "hardware"), "minimum");
	if (json_object_get(minimum, "capability"))
		json_object_set_new(minimum, "capability", json_string(capability));
	if (json_object_del(s->out->doc, "gpus") == 0)
		by_hand_take(s, ls_xasprintf("gpus: %s left out; name the new ones",
					     text_of(s->spec, "gpus")));
}

/* --- all of it --- */

static void with_torch(struct ls_upgrade_search *s)
{
	ls_upgrade_choose(s);
	if (!s->torch)
		return;
	s->out->doc = json_deep_copy(s->spec->json);
	move_driver(s);
	move_torch(s);
	move(s, "torch_cuda", ls_row_text(s->torch, "cuda"));
	move(s, "cudnn", ls_row_text(s->torch, "cudnn"));
	move(s, "cuda", ls_row_text(s->torch, "cuda"));
	move_companion(s, "torchvision", "package.torchvision");
	move_companion(s, "torchaudio", "package.torchaudio");
	move_python(s);
	move_image(s);
	move_packages(s);
}

/* Of a machine without a GPU the tables know Python and the images that have it. */
static void without_cuda(struct ls_upgrade_search *s)
{
	if (!ls_upgrade_choose_python(s, NULL, s->python))
		return;
	s->out->doc = json_deep_copy(s->spec->json);
	if (ls_spec_find(s->spec, "torch"))
		by_hand_take(s, ls_xstrdup("torch: the table has builds for CUDA only; it "
					   "stays"));
	move_python(s);
	move_image(s);
}

void ls_spec_upgrade(const struct ls_spec *spec, const struct ls_compat *compat,
		     const struct ls_upgrade_how *how, struct ls_upgrade *ret)
{
	const char *machine = ls_spec_exact(spec, "arch");
	struct ls_upgrade_search s = {
		.spec = spec,
		.compat = compat,
		.today = how->today,
		.capability = how->capability ? how->capability
					      : ls_spec_upgrade_capability(spec, compat),
		.machine = machine ? machine : "x86_64",
		.out = ret};
	*ret = (struct ls_upgrade){.passed = json_array(), .by_hand = json_array()};
	if (!spec->image.base || !ls_image_ref_parse(spec->image.base, &s.image))
		s.image = (struct ls_image_ref){0};
	if (!ls_spec_wants_cuda(spec))
		without_cuda(&s);
	else if (s.capability)
		with_torch(&s);
	if (ret->doc && how->capability)
		move_gpus(&s, how->capability);
	const char *date = ls_compat_date(compat, LS_COMPAT_TORCH);
	if (date && ls_calendar_days(date, how->today) > 365)
		by_hand_take(
			&s, ls_xasprintf("the tables are of %s: is there a newer lockstep?", date));
	if (ret->doc)
		json_object_set_new(ret->doc, "date", json_string(how->today));
}

void ls_spec_upgrade_done(struct ls_upgrade *u)
{
	for (size_t i = 0; i < u->n_parts; i++) {
		free(u->parts[i].now);
		free(u->parts[i].now_ends);
		free(u->parts[i].next);
		free(u->parts[i].next_ends);
	}
	json_decref(u->doc);
	json_decref(u->passed);
	json_decref(u->by_hand);
	*u = (struct ls_upgrade){0};
}

/* --- for people and programs --- */

static const char *or_dash(const char *text)
{
	return text ? text : "-";
}

static bool same_why(const json_t *list, size_t i, size_t k)
{
	return strcmp(ls_row_text(json_array_get(list, i), "why"),
		      ls_row_text(json_array_get(list, k), "why")) == 0;
}

/* A line for each reason, with the newest wheel that it is about. */
static void passed_text(const json_t *list, struct ls_str *out)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		size_t before = 0, others = 0;
		for (size_t k = 0; k < json_array_size(list); k++) {
			before += k < i && same_why(list, i, k);
			others += k > i && same_why(list, i, k);
		}
		if (before)
			continue;
		const json_t *v = json_array_get(list, i);
		ls_str_addf(out, "%s torch %s",
			    i ? "          " : "not taken:", ls_row_text(v, "torch"));
		if (others)
			ls_str_addf(out, " and %zu older", others);
		ls_str_addf(out, ": %s\n", ls_row_text(v, "why"));
	}
}

void ls_spec_upgrade_text(const struct ls_upgrade *u, struct ls_str *out)
{
	static const char *const heading[] = {"part", "now", "ends", "then", "ends"};
	struct ls_table t;
	ls_table_init(&t, 5, heading);
	for (size_t i = 0; i < u->n_parts; i++) {
		const struct ls_upgrade_part *p = &u->parts[i];
		const char *const cells[] = {p->key, or_dash(p->now), or_dash(p->now_ends),
					     or_dash(p->next), or_dash(p->next_ends)};
		ls_table_row(&t, cells);
	}
	if (u->n_parts)
		ls_table_text(&t, out);
	ls_table_done(&t);
	passed_text(u->passed, out);
	size_t i;
	json_t *v;
	json_array_foreach(u->by_hand, i, v)
		ls_str_addf(out, "%s %s\n", i ? "          " : "by hand:  ", json_string_value(v));
}

json_t *ls_spec_upgrade_json(const struct ls_upgrade *u)
{
	json_t *parts = json_array();
	for (size_t i = 0; i < u->n_parts; i++) {
		const struct ls_upgrade_part *p = &u->parts[i];
		json_array_append_new(parts, json_pack("{s:s,s:s?,s:s?,s:s?,s:s?}", "part", p->key,
						       "now", p->now, "now_ends", p->now_ends,
						       "then", p->next, "then_ends", p->next_ends));
	}
	return json_pack("{s:o,s:O,s:O}", "parts", parts, "not_taken", u->passed, "by_hand",
			 u->by_hand);
}
