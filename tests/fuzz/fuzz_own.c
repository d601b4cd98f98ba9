/* Two files as two runs may have written them: texts with times, zip archives, event
 * files. The first byte says where the second file begins. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "compare/own.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int64_t pids[] = {57, 4001};
	static const struct ls_own runs = {{1795075500, 1795075560, 19800, pids, 2},
					   {1795079100, 1795079160, 19800, pids, 2}};
	if (size < 1)
		return 0;
	size_t cut = data[0] * (size - 1) / 255;
	struct ls_map a = {data + 1, cut}, b = {data + 1 + cut, size - 1 - cut};
	ls_own_same_file(&runs, &a, &b);
	if (ls_own_same_file(&runs, &a, &a) &&
	    !ls_own_same(&runs, "", a.data, a.len, a.data, a.len))
		abort(); /* a text is always the same as itself */
	return 0;
}
