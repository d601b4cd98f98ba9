#include "env/spec/upgrade_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "env/facts/version.h"

bool ls_upgrade_alive(const json_t *row, const char *today)
{
	const char *eol = ls_row_text(row, "eol");
	return eol && strcmp(eol, today) >= 0;
}

bool ls_upgrade_at_least(const char *version, const char *low)
{
	int order;
	return version && low && ls_version_compare(version, low, &order) && order >= 0;
}

static const char *lowest(const struct ls_spec *spec, const char *key)
{
	const struct ls_check *c = ls_spec_find(spec, key);
	return c && c->matcher ? ls_matcher_lowest(c->matcher) : NULL;
}

static bool names(const struct ls_spec *spec, const char *package)
{
	char key[64];
	snprintf(key, sizeof key, "package.%s", package);
	return ls_spec_find(spec, key) != NULL;
}

/* --- drivers --- */

/* The branch that lives longest among those that run the CUDA; long-term branches before
 * others, which end within a year. */
static const json_t *branch_for(const struct ls_upgrade_search *s, const char *driver_min)
{
	const json_t *best = NULL;
	const char *need = driver_min ? driver_min : "0";
	char minor[24];
	snprintf(minor, sizeof minor, "%.*s", (int)strcspn(need, "."), need);
	for (size_t i = 0; driver_min && i < ls_compat_rows(s->compat, LS_COMPAT_BRANCHES); i++) {
		const json_t *row = ls_compat_row(s->compat, LS_COMPAT_BRANCHES, i);
		if (!ls_upgrade_alive(row, s->today) ||
		    !ls_upgrade_at_least(ls_row_text(row, "branch"), minor))
			continue;
		bool term = strcmp(ls_row_text(row, "kind"), "long-term") == 0,
		     best_term = best && strcmp(ls_row_text(best, "kind"), "long-term") == 0;
		bool longer = best && strcmp(ls_row_text(row, "eol"), ls_row_text(best, "eol")) > 0;
		if (!best || (term && !best_term) || (term == best_term && longer))
			best = row;
	}
	return best;
}

/* The oldest driver of the branch that runs the CUDA. */
const char *ls_upgrade_driver(const struct ls_upgrade_search *s)
{
	const char *min = ls_compat_min_driver(s->compat, ls_row_text(s->torch, "cuda"));
	const char *branch = ls_row_text(s->branch, "branch");
	return ls_upgrade_at_least(min, branch) ? min : branch;
}

/* --- Python --- */

static bool python_fits(const struct ls_upgrade_search *s, const json_t *torch, const char *minor)
{
	const json_t *row = ls_compat_find(s->compat, LS_COMPAT_PYTHON, "python", minor);
	return row && ls_upgrade_alive(row, s->today) &&
	       (!torch || (ls_upgrade_at_least(minor, ls_row_text(torch, "python_min")) &&
			   ls_upgrade_at_least(ls_row_text(torch, "python_max"), minor)));
}

/* The spec's own Python where it fits, then the image's, then the newest. */
bool ls_upgrade_choose_python(const struct ls_upgrade_search *s, const json_t *torch, char ret[24])
{
	const char *now = lowest(s->spec, "python");
	char minor[48] = "";
	ret[0] = 0;
	if (!ls_spec_find(s->spec, "python"))
		return true;
	if (now && ls_compat_minor(now, minor, sizeof minor) && python_fits(s, torch, minor))
		snprintf(ret, 24, "%.23s", minor);
	else if (!s->image.has_python && python_fits(s, torch, s->image.python))
		snprintf(ret, 24, "%.23s", s->image.python);
	for (size_t i = ls_compat_rows(s->compat, LS_COMPAT_PYTHON); i-- > 0 && !*ret;) {
		const char *row =
			ls_row_text(ls_compat_row(s->compat, LS_COMPAT_PYTHON, i), "python");
		if (python_fits(s, torch, row))
			snprintf(ret, 24, "%s", row);
	}
	return *ret;
}

/* --- torch --- */

static const json_t *pair_of(const struct ls_upgrade_search *s, const json_t *torch)
{
	return ls_compat_find(s->compat, LS_COMPAT_PAIRS, "torch", ls_row_text(torch, "torch"));
}

/* A companion that the spec names and of which the table does not know the release. */
static const char *lone_companion(const struct ls_upgrade_search *s, const json_t *torch)
{
	static const char *const companions[] = {"torchvision", "torchaudio"};
	for (size_t i = 0; i < 2; i++)
		if (names(s->spec, companions[i]) && !ls_row_text(pair_of(s, torch), companions[i]))
			return companions[i];
	return NULL;
}

static char *image_fault(const struct ls_upgrade_search *s, const json_t *torch, const json_t **ret)
{
	const char *cuda = ls_row_text(torch, "cuda");
	*ret = NULL;
	if (!*s->image.cuda)
		return NULL;
	const json_t *row = ls_compat_find(s->compat, LS_COMPAT_IMAGES, "cuda", cuda);
	if (!row)
		return ls_xasprintf("no image of CUDA %s is in the table", cuda);
	const json_t *branch =
		ls_compat_find(s->compat, LS_COMPAT_BRANCHES, "branch", ls_row_text(row, "branch"));
	if (!ls_upgrade_alive(branch, s->today))
		return ls_xasprintf("the images of CUDA %s ended on %s", cuda,
				    branch ? ls_row_text(branch, "eol") : "a day not known");
	*ret = row;
	return NULL;
}

/* Why this wheel cannot be taken, to be freed; NULL: it can, and the rows are set. */
static char *fault_of(struct ls_upgrade_search *s, const json_t *torch)
{
	const char *list, *cuda = ls_row_text(torch, "cuda"), *companion;
	const json_t *branch, *image;
	char python[24], *fault;
	if (!ls_compat_runs_on(torch, s->machine, s->capability, &list))
		return ls_xasprintf("has no code for compute capability %s on %s", s->capability,
				    s->machine);
	if (!(branch = branch_for(s, ls_compat_min_driver(s->compat, cuda))))
		return ls_xasprintf("no living driver branch is known to run CUDA %s", cuda);
	if ((fault = image_fault(s, torch, &image)))
		return fault;
	if (!ls_upgrade_choose_python(s, torch, python))
		return ls_xstrdup("has no wheels for a Python that is maintained");
	if ((companion = lone_companion(s, torch)))
		return ls_xasprintf("the table has no %s for it", companion);
	s->torch = torch;
	s->branch = branch;
	s->cuda_image = image;
	snprintf(s->python, sizeof s->python, "%s", python);
	return NULL;
}

/* Newest torch first, and of one release the newest CUDA. */
static bool newer(const json_t *a, const json_t *b)
{
	int order = 0;
	ls_version_compare(ls_row_text(a, "torch"), ls_row_text(b, "torch"), &order);
	if (!order)
		ls_version_compare(ls_row_text(a, "cuda"), ls_row_text(b, "cuda"), &order);
	return order > 0;
}

/* The newest row that is older than `than` (NULL: the newest of all). */
static const json_t *next_row(const struct ls_upgrade_search *s, const json_t *than)
{
	const json_t *best = NULL;
	for (size_t i = 0; i < ls_compat_rows(s->compat, LS_COMPAT_TORCH); i++) {
		const json_t *row = ls_compat_row(s->compat, LS_COMPAT_TORCH, i);
		if ((!than || newer(than, row)) && (!best || newer(row, best)))
			best = row;
	}
	return best;
}

/* Older wheels than the spec's own are no upgrade. */
void ls_upgrade_choose(struct ls_upgrade_search *s)
{
	const char *now = lowest(s->spec, "torch");
	for (const json_t *row = NULL; !s->torch && (row = next_row(s, row));) {
		int order = 0;
		if (now && ls_version_compare(ls_row_text(row, "torch"), now, &order) && order < 0)
			break;
		char *why = fault_of(s, row);
		if (why) {
			char *name = ls_xasprintf("%s+%s", ls_row_text(row, "torch"),
						  ls_row_text(row, "build"));
			json_array_append_new(s->out->passed,
					      json_pack("{s:s,s:s}", "torch", name, "why", why));
			free(name);
		}
		free(why);
	}
}

const json_t *ls_upgrade_pair(const struct ls_upgrade_search *s)
{
	return pair_of(s, s->torch);
}
