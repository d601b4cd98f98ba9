/* Run manifests: parse, check, print, and compare with one that differs. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "run/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char other[] =
		"{\"schema\":\"lockstep.run/"
		"1\",\"policy\":{\"seed\":3,\"env\":{\"A\":{\"value\":\"1\"}}},\"inputs\":[{"
		"\"path\":\"x\","
		"\"sha256\":\"0\"}],\"sources\":{\"x\":\"1\"},\"training\":{\"optimizers\":[{"
		"\"steps\":1}]},\"hook\":{\"seeded\":[{\"library\":\"r\",\"value\":1}]},\"trace\":{"
		"\"kernels\":[{\"file\":\"f\",\"digest\":\"0\"}]}}";
	json_t *m, *b;
	struct ls_err err;
	if (ls_json_parse((const char *)data, size, "fuzz", &m, &err))
		return 0;
	if (ls_manifest_check(m, "fuzz", &err) == 0 &&
	    ls_json_parse(other, sizeof other - 1, "other", &b, &err) == 0) {
		struct ls_str s = {0};
		struct ls_differences d;
		uint64_t peak;
		json_object_del(m, "out"); /* no reading of files that the input names */
		ls_manifest_text(m, &s);
		if (ls_plan_measured(m, &peak, NULL) == 0 && peak == 0)
			abort();
		ls_manifest_diff(m, b, &d);
		json_decref(ls_differences_json(&d));
		ls_differences_done(&d);
		ls_str_done(&s);
		json_decref(b);
	}
	json_decref(m);
	return 0;
}
