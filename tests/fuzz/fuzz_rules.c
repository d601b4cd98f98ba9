/* A file of health rules, and the judging by it of a sample without a GPU. */
#include <stdint.h>
#include <stdlib.h>

#include "watch/judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_rules *rules;
	struct ls_xid_table *xids;
	struct ls_err err;
	struct ls_judge_options o = {.expected = 1};
	struct ls_watch_gpu gpu = {.lost = 0};
	struct ls_sample s = {.time = 1, .has_nvml = true, .n_gpus = 1, .gpus = &gpu};
	if (ls_rules_load(&rules, &err) || ls_xid_table_load(&xids, &err))
		abort();
	if (ls_rules_merge(rules, (const char *)data, size, "fuzz", &err) == 0) {
		struct ls_judge *j = ls_judge_new(rules, xids, &o);
		ls_judge_feed(j, &s);
		ls_judge_free(j);
	}
	ls_rules_free(rules);
	ls_xid_table_free(xids);
	return 0;
}
