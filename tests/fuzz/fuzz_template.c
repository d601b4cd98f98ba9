/* Templates of experiments: checked, their batch computed, their command filled in. */
#include <stdint.h>
#include <stdlib.h>

#include "job/command.h"
#include "job/design.h"
#include "job/experiment.h"
#include "job/row.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *t;
	struct ls_err err;
	if (ls_json_parse((const char *)data, size, "fuzz", &t, &err))
		return 0;
	if (!ls_template_check(t, "fuzz", &err) && !ls_design_batch(t, &err) &&
	    !ls_design_steps(t, ls_col_real(t, "epochs", -1), -1, &err)) {
		json_t *values = ls_experiment_values(t, "out", NULL, 1);
		char **words = NULL;
		if (!ls_command_words(json_object_get(t, "command"), ls_experiment_value, values,
				      &words, &err))
			ls_command_free(words);
		json_decref(values);
	}
	json_decref(t);
	return 0;
}
