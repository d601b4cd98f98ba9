#include "job/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { NAME_MOST = 64 };

static const char name_letters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/* The length of the name between braces at text, or 0. */
static size_t name_at(const char *text)
{
	size_t n = strspn(text + 1, name_letters);
	return n > 0 && n < NAME_MOST && text[1 + n] == '}' && !strchr("0123456789", text[1]) ? n
											      : 0;
}

int ls_command_fill(const char *word, ls_placeholder value, void *ctx, struct ls_str *out,
		    struct ls_err *err)
{
	for (const char *p = word; *p;) {
		size_t n = *p == '{' ? name_at(p) : 0;
		if (!n) {
			ls_str_add_bytes(out, p++, 1);
			continue;
		}
		char name[NAME_MOST];
		snprintf(name, sizeof name, "%.*s", (int)n, p + 1);
		const char *v = value(ctx, name);
		if (!v)
			return ls_err_set(err, LS_EINPUT,
					  "\"%s\": {%s} has no value: give it with --set %s=VALUE, "
					  "or by its option (`lockstep exp new --help`)",
					  word, name, name);
		ls_str_add(out, v);
		p += n + 2;
	}
	return 0;
}

int ls_command_words(const json_t *command, ls_placeholder value, void *ctx, char ***ret,
		     struct ls_err *err)
{
	char **words = ls_xalloc((json_array_size(command) + 1) * sizeof *words);
	const json_t *word;
	size_t i;
	json_array_foreach(command, i, word)
	{
		struct ls_str s = {0};
		int rc = ls_command_fill(json_string_value(word), value, ctx, &s, err);
		words[i] = ls_str_take(&s);
		if (rc) {
			ls_command_free(words);
			return rc;
		}
	}
	*ret = words;
	return 0;
}

void ls_command_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

char *ls_command_text(const json_t *command)
{
	struct ls_str s = {0};
	const json_t *word;
	size_t i;
	json_array_foreach(command, i, word)
	{
		char *quoted = ls_str_shell(json_string_value(word));
		ls_str_addf(&s, "%s%s", i ? " " : "", quoted);
		free(quoted);
	}
	return ls_str_take(&s);
}
