/* What the files say against what a running Python says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/version.h"
#include "env/rules/findings.h"

static void differ(struct ls_findings *list, const char *id, const char *expected,
		   const char *found, const char *advice)
{
	ls_findings_fault(list, LS_LEVEL_REQUIRED, id, expected, found, "--deep", advice);
}

static const char *shown(const struct ls_fact *f)
{
	return f->state == LS_FACT_KNOWN ? f->value : "none";
}

/* cuDNN's text and its integer are one version when they encode alike; the wheel's fourth
 * part is not in the integer. */
static bool same_cudnn(const char *a, const char *b)
{
	char x[LS_VERSION_TEXT], y[LS_VERSION_TEXT];
	if (!ls_version_cudnn(a, x) || !ls_version_cudnn(b, y))
		return false;
	return ls_version_cudnn_code(x) != 0 &&
	       ls_version_cudnn_code(x) == ls_version_cudnn_code(y);
}

static bool agree(const char *key, const struct ls_fact *file, const struct ls_fact *deep)
{
	if (file->state != LS_FACT_KNOWN || deep->state != LS_FACT_KNOWN)
		return file->state == deep->state;
	if (strcmp(key, "cudnn") == 0)
		return same_cudnn(file->value, deep->value);
	int order; /* version.py has +cu121, METADATA may not: of packages only the release counts
		    */
	if (ls_str_starts(key, "package.") && ls_version_compare(file->value, deep->value, &order))
		return order == 0;
	return strcmp(file->value, deep->value) == 0;
}

static char *advice_for(const struct ls_facts *f, const char *key)
{
	const char *loaded = ls_facts_value(f, "deep.lib.cudnn");
	if (strcmp(key, "cudnn") == 0)
		return ls_xasprintf(
			"torch runs with another cuDNN than the one it brought%s%s\n"
			"take the folder of that copy out of LD_LIBRARY_PATH (and LD_PRELOAD)",
			loaded ? ": " : "", loaded ? loaded : "");
	return ls_xstrdup("the interpreter takes it from another place than its site folders say: "
			  "look at PYTHONPATH and at "
			  "overlapping installs");
}

static void cross_check(struct ls_findings *list, const struct ls_facts *f, const char *key)
{
	char deep_key[64], id[80];
	snprintf(deep_key, sizeof deep_key, "deep.%s", key);
	snprintf(id, sizeof id, "deep-%s", key);
	const struct ls_fact *file = ls_facts_find(f, key), *deep = ls_facts_find(f, deep_key);
	if (!file || !deep || deep->state == LS_FACT_UNKNOWN || file->state == LS_FACT_UNKNOWN ||
	    agree(key, file, deep))
		return;
	/* without a torch the cuDNN of the files is that of any program */
	const struct ls_fact *torch = ls_facts_find(f, "deep.torch");
	if (strcmp(key, "cudnn") == 0 && torch && torch->state == LS_FACT_ABSENT)
		return;
	/* version.py without metadata: a torchvision that was built in place */
	if (ls_str_starts(key, "package.") && deep->state == LS_FACT_ABSENT &&
	    ls_str_ends(file->source, "/version.py"))
		return;
	char *advice = advice_for(f, key);
	char *expected = ls_xasprintf("%s, as %s says", shown(file), file->source);
	char *found = ls_xasprintf("%s, says the running Python", shown(deep));
	differ(list, id, expected, found, advice);
	free(found);
	free(expected);
	free(advice);
}

/* A library that torch brought, and another file that the process really has. */
static void other_file(struct ls_findings *list, const struct ls_facts *f, const char *which)
{
	char key[48];
	snprintf(key, sizeof key, "bundled.%s", which);
	const struct ls_fact *own = ls_facts_find(f, key);
	snprintf(key, sizeof key, "deep.lib.%s", which);
	const char *loaded = ls_facts_value(f, key);
	if (!own || !own->value || !own->note || !loaded || strcmp(own->note, loaded) == 0)
		return;
	char *id = ls_xasprintf("deep-lib-%s", which);
	differ(list, id, own->note, loaded,
	       "another copy of the library is found first: take its folder out of LD_LIBRARY_PATH "
	       "and LD_PRELOAD");
	free(id);
}

static void import_failed(struct ls_findings *list, const struct ls_facts *f)
{
	const struct ls_fact *deep = ls_facts_find(f, "deep.torch");
	if (!deep || deep->state != LS_FACT_UNKNOWN || !ls_facts_value(f, "torch"))
		return;
	bool symbol = strstr(deep->reason, "version `") || strstr(deep->reason, "version '") ||
		      strstr(deep->reason, "undefined symbol");
	differ(list, symbol ? "cuda-version-not-found" : "torch-import",
	       "a torch that can be imported", deep->reason,
	       symbol ? "a library of another CUDA version is found first: rebuild the container "
			"from an image with "
			"torch's "
			"CUDA version (`docker compose build --no-cache`)\n"
			"take the other CUDA out of LD_LIBRARY_PATH"
		      : "start that Python and `import torch`: the last line of what it says is "
			"the cause");
}

/* torch.backends.cudnn.version() raises when the library is not one that torch was built
 * for. */
static bool wrong_cudnn(const struct ls_fact *deep)
{
	return strstr(deep->reason, "cuDNN version incompatib") != NULL;
}

/* Questions of --deep that Python did not answer. They are required unknowns, because the
 * user asked for them. */
static void unanswered(struct ls_findings *list, const struct ls_facts *f)
{
	static const char *const keys[] = {"python", "torch",          "torch_cuda", "cudnn",
					   "nccl",   "cuda_available", "arch_list",  NULL};
	const struct ls_fact *torch = ls_facts_find(f, "deep.torch");
	if (!torch)
		ls_findings_blind(list, LS_LEVEL_REQUIRED, "deep-torch",
				  "an answer, as --deep asks for it", "nothing was said of torch",
				  "--deep", "start that Python and `import torch`");
	for (const char *const *k = keys; *k; k++) {
		char key[32], id[32];
		snprintf(key, sizeof key, "deep.%s", *k);
		snprintf(id, sizeof id, "deep-%s", *k);
		const struct ls_fact *deep = ls_facts_find(f, key);
		if (!deep || deep->state != LS_FACT_UNKNOWN)
			continue;
		if (strcmp(*k, "cudnn") == 0 && wrong_cudnn(deep))
			differ(list, id, "a cuDNN that this torch accepts", deep->reason,
			       "install the cuDNN that torch requires: `pip install "
			       "torch==VERSION` "
			       "of the version that is there brings it\n"
			       "take other copies out of LD_LIBRARY_PATH and LD_PRELOAD");
		else if (strcmp(*k, "torch") == 0
				 ? !ls_findings_find(list, "torch-import") &&
					   !ls_findings_find(list, "cuda-version-not-found")
				 : torch && torch->state != LS_FACT_UNKNOWN)
			ls_findings_blind(list, LS_LEVEL_REQUIRED, id,
					  "an answer, as --deep asks for it", deep->reason,
					  "--deep",
					  "start that Python and ask it the same: what it says is "
					  "the cause");
	}
}

static void not_available(struct ls_findings *list, const struct ls_facts *f)
{
	const char *answer = ls_facts_value(f, "deep.cuda_available");
	if (!answer || strcmp(answer, "false") != 0 || ls_facts_gpu_count(f) == 0 ||
	    !ls_facts_value(f, "torch_cuda"))
		return;
	differ(list, "deep-no-cuda", "torch.cuda.is_available() is True, as NVML sees GPUs",
	       "False",
	       "driver: `nvidia-smi` works, so the driver is there; is it new enough for torch's "
	       "CUDA?\n"
	       "container flags: NVIDIA_DRIVER_CAPABILITIES must have compute\n"
	       "CUDA_VISIBLE_DEVICES must not hide the GPUs");
}

void ls_findings_deep(struct ls_findings *list, const struct ls_facts *facts)
{
	static const char *const keys[] = {"python", "torch", "torch_cuda", "cudnn", NULL};
	static const char *const libraries[] = {"cudart", "cudnn", "cublas", "nccl",
						"nvrtc",  "cupti", NULL};
	if (!ls_facts_find(facts, "deep.python"))
		return;
	for (const char *const *k = keys; *k; k++)
		cross_check(list, facts, *k);
	for (size_t i = 0; i < facts->n; i++) {
		const char *key = facts->items[i].key;
		if (ls_str_starts(key, "deep.package.") && strcmp(key, "deep.package.torch") != 0)
			cross_check(list, facts, key + strlen("deep."));
	}
	for (const char *const *l = libraries; *l; l++)
		other_file(list, facts, *l);
	import_failed(list, facts);
	unanswered(list, facts);
	not_available(list, facts);
}
