#include "run/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

struct state {
	struct ls_words *list;
	struct ls_str word;
	bool open; /* a word has begun, though it may be empty */
};

static void end_word(struct state *s)
{
	struct ls_words *l = s->list;
	if (s->open) {
		l->w = ls_grow(l->w, l->n + 1, &l->cap, sizeof *l->w);
		l->w[l->n++] = ls_str_take(&s->word);
		l->w[l->n] = NULL;
	}
	s->open = false;
}

static void add_char(struct state *s, const char *c)
{
	ls_str_add_bytes(&s->word, c, 1);
	s->open = true;
}

/* The quoted part at p with its quotes; NULL where they are not closed. */
static const char *quoted(struct state *s, const char *p)
{
	char quote = *p++;
	s->open = true;
	for (; *p && *p != quote; p++) {
		if (quote == '"' && *p == '\\' && p[1] && strchr("\"\\$`", p[1]))
			p++;
		add_char(s, p);
	}
	return *p ? p + 1 : NULL;
}

/* What stands at p; NULL after a failure. */
static const char *take(struct state *s, const char *p, const char *name, struct ls_err *err)
{
	if (strchr("'\"", *p)) {
		p = quoted(s, p);
		if (!p)
			ls_err_set(err, LS_EINPUT, "%s: a quote is not closed", name);
		return p;
	}
	if (strchr(" \t\n", *p)) {
		end_word(s);
		return p + 1;
	}
	if (strchr("$`|&;<>()*?#~", *p)) {
		ls_err_set(err, LS_EINPUT,
			   "%s: no shell reads it; quote the \"%c\", or write sh -c '…'", name, *p);
		return NULL;
	}
	p += *p == '\\' && p[1];
	add_char(s, p);
	return p + 1;
}

int ls_words_split(const char *text, const char *name, struct ls_words *ret, struct ls_err *err)
{
	struct state s = {.list = ret};
	const char *p = text;
	while (p && *p)
		p = take(&s, p, name, err);
	if (p)
		end_word(&s);
	ls_str_done(&s.word);
	if (!p)
		return LS_EINPUT;
	return ret->n ? 0 : ls_err_set(err, LS_EINPUT, "%s: the command is empty", name);
}

void ls_words_done(struct ls_words *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->w[i]);
	free(l->w);
	*l = (struct ls_words){0};
}
