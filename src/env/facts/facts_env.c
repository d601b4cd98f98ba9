/* The env block of a run manifest, from facts. */
#include <stdlib.h>

#include "base/mem.h"
#include "env/facts/facts.h"
#include "env/facts/version.h"

static json_t *text(const struct ls_facts *facts, const char *key)
{
	const char *v = ls_facts_value(facts, key);
	return v ? json_string(v) : json_null();
}

static json_t *cudnn_code(const struct ls_facts *facts)
{
	const char *v = ls_facts_value(facts, "deep.cudnn");
	if (!v)
		v = ls_facts_value(facts, "cudnn");
	char plain[LS_VERSION_TEXT];
	uint64_t code = v && ls_version_cudnn(v, plain) ? ls_version_cudnn_code(plain) : 0;
	return code ? json_integer((json_int_t)code) : json_null();
}

/* What nvidia-smi prints in its heading, from the same library calls. */
static json_t *smi(const struct ls_facts *facts)
{
	const char *driver = ls_facts_value(facts, "driver"),
		   *cuda = ls_facts_value(facts, "driver_cuda");
	return driver && cuda ? json_sprintf("Driver Version: %s CUDA Version: %s", driver, cuda)
			      : json_null();
}

json_t *ls_facts_env_block(const struct ls_facts *facts)
{
	json_t *o = json_object();
	json_object_set_new(o, "torch", text(facts, "torch"));
	json_object_set_new(o, "torch_cuda", text(facts, "torch_cuda"));
	json_object_set_new(o, "cudnn", cudnn_code(facts));
	json_object_set_new(o, "python", text(facts, "python"));
	json_object_set_new(o, "nvidia_smi", smi(facts));
	json_object_set_new(o, "cuda_version_txt", text(facts, "cuda_version_txt"));
	return o;
}
