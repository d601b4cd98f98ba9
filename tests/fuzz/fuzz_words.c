/* A command in one text, as --against has it. What was split is put together again with a
 * shell's quotes and must be the same words. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "run/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same_again(const struct ls_words *l)
{
	struct ls_str text = {0};
	struct ls_words again = {0};
	struct ls_err err;
	for (size_t i = 0; i < l->n; i++) {
		char *word = ls_str_shell(l->w[i]);
		ls_str_addf(&text, "%s%s", i ? " " : "", word);
		free(word);
	}
	if (ls_words_split(text.s, "text", &again, &err) || again.n != l->n)
		abort();
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(again.w[i], l->w[i]) != 0)
			abort();
	ls_words_done(&again);
	ls_str_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = ls_xstrndup((const char *)data, size);
	struct ls_words l = {0};
	struct ls_err err;
	if (ls_words_split(text, "text", &l, &err) == 0)
		same_again(&l);
	ls_words_done(&l);
	free(text);
	return 0;
}
