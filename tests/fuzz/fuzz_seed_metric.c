/* A metric in what a program wrote: the first byte says in which form. */
#include <stddef.h>
#include <stdint.h>

#include "run/seed_metric.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_seed_metric_found f;
	const char *text = (const char *)data + 1;
	if (size == 0)
		return 0;
	if (data[0] == 'j')
		ls_seed_metric_json(text, size - 1, "val/f1", &f);
	else if (data[0] == 'c')
		ls_seed_metric_csv(text, size - 1, ',', "val/f1", &f);
	else
		ls_seed_metric_log(text, size - 1, "val/f1", &f);
	return 0;
}
