/* YAML as JSON: what comes out is JSON, whose only faults may be a key that is there
 * twice, a name that is too long, or nesting that the aliases made. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compare/json_pair.h"
#include "compare/yaml_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *ctx, const char *name, const struct ls_json_token *a,
		   const struct ls_json_token *b)
{
	(void)ctx, (void)name, (void)a, (void)b;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_json_sink sink = {.leaf = ignore};
	struct ls_str s = {0};
	struct ls_err err;
	if (ls_yaml_json((const char *)data, size, "fuzz", &s, &err) == 0 && s.len < 1 << 16 &&
	    ls_json_pair_walk(s.s, s.len, "A", s.s, s.len, "B", &sink, &err) &&
	    !strstr(err.msg, "twice") && !strstr(err.msg, "deep") && !strstr(err.msg, "4096"))
		abort();
	ls_str_done(&s);
	return 0;
}
