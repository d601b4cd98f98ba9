#include "env/rules/report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static json_t *text(const char *s)
{
	json_t *v = s ? json_string(s) : json_null();
	return v ? v : json_string("(not UTF-8)");
}

/* "15360 MiB" -> 15360, "70.00 W" -> 70.0, "9.0" stays text; null when not known. */
static json_t *number(const char *s, bool whole)
{
	char *end;
	double v = s ? strtod(s, &end) : 0;
	if (!s || end == s)
		return json_null();
	return whole ? json_integer((json_int_t)v) : json_real(v);
}

static json_t *on_off(const char *s)
{
	return s ? json_boolean(strcmp(s, "on") == 0) : json_null();
}

const struct ls_batch_range *ls_report_batch(const struct ls_report *r, size_t i)
{
	const char *memory = ls_facts_gpu_value(r->facts, i, "memory");
	unsigned long mib = memory ? strtoul(memory, NULL, 10) : 0;
	return ls_gpu_catalog_batch_of(r->catalog, ls_facts_gpu_value(r->facts, i, "name"),
				       mib < UINT_MAX ? (unsigned)mib : 0);
}

static json_t *tested_on(const struct ls_report *r, size_t i)
{
	json_t *list = json_array();
	const char *name = ls_facts_gpu_value(r->facts, i, "name");
	const json_t *row;
	for (size_t k = 0; name && (row = ls_advice_tested(r->advice, NULL, name, &k));)
		json_array_append_new(list, json_deep_copy(row));
	return list;
}

static json_t *gpu(const struct ls_report *r, size_t i)
{
	const struct ls_facts *f = r->facts;
	const struct ls_batch_range *batch = ls_report_batch(r, i);
	json_t *o = json_object();
	json_object_set_new(o, "index", json_integer((json_int_t)i));
	json_object_set_new(o, "name", text(ls_facts_gpu_value(f, i, "name")));
	json_object_set_new(o, "uuid", text(ls_facts_gpu_value(f, i, "uuid")));
	json_object_set_new(o, "capability", text(ls_facts_gpu_value(f, i, "capability")));
	json_object_set_new(o, "memory_mib", number(ls_facts_gpu_value(f, i, "memory"), true));
	json_object_set_new(o, "ecc", on_off(ls_facts_gpu_value(f, i, "ecc")));
	json_object_set_new(o, "mig", on_off(ls_facts_gpu_value(f, i, "mig")));
	json_object_set_new(o, "persistence", on_off(ls_facts_gpu_value(f, i, "persistence")));
	json_object_set_new(o, "power_limit_w",
			    number(ls_facts_gpu_value(f, i, "power_limit"), false));
	json_object_set_new(o, "power_default_w",
			    number(ls_facts_gpu_value(f, i, "power_default"), false));
	json_object_set_new(o, "throttle", text(ls_facts_gpu_value(f, i, "throttle")));
	json_object_set_new(o, "batch",
			    batch ? json_pack("[i,i]", (int)batch->batch_min, (int)batch->batch_max)
				  : json_null());
	json_object_set_new(o, "tested", tested_on(r, i));
	return o;
}

json_t *ls_report_json(const struct ls_report *r)
{
	json_t *o = json_object(), *gpus = json_array();
	for (size_t i = 0; i < ls_facts_gpu_count(r->facts); i++)
		json_array_append_new(gpus, gpu(r, i));
	json_object_set_new(o, "format", json_string("lockstep-doctor"));
	json_object_set_new(o, "version", json_integer(1));
	json_object_set_new(o, "lockstep", json_string(LS_VERSION));
	json_object_set_new(o, "created", text(r->created));
	json_object_set_new(o, "host", text(ls_facts_value(r->facts, "host")));
	json_object_set_new(o, "spec", text(r->spec ? r->spec->name : NULL));
	json_object_set_new(o, "cuda", json_boolean(r->cuda));
	json_object_set_new(o, "deep", json_boolean(r->deep));
	json_object_set_new(o, "verdict", text(ls_outcome_name(ls_findings_verdict(r->findings))));
	json_object_set_new(o, "env", ls_facts_env_block(r->facts));
	json_object_set_new(o, "gpus", gpus);
	json_object_set_new(o, "findings", ls_findings_json(r->findings));
	json_object_set_new(o, "symptom",
			    r->symptom ? json_deep_copy(ls_advice_symptom(r->advice, r->symptom))
				       : json_null());
	json_object_set_new(o, "facts", ls_facts_json(r->facts));
	return o;
}
