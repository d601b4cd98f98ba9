/* Which interpreters the policy did not reach: seen running, turned into by exec, or
 * started by a recorded one, without a record of their own. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "run/cmdline.h"
#include "run/hook.h"

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : "";
}

/* Whether an interpreter left a record of this image; of this process where /proc told no
 * image. */
static bool has_record(const json_t *images, const struct ls_procscan_seen *seen)
{
	size_t i;
	json_t *e;
	json_array_foreach((json_t *)(uintptr_t)images, i, e)
	{
		const char *image = text_of(e, "image");
		if (*image && *seen->image
			    ? strcmp(image, seen->image) == 0
			    : json_integer_value(json_object_get(e, "pid")) == seen->pid)
			return true;
	}
	return false;
}

static bool is_uncovered(const struct ls_procscan_seen *s, const json_t *images)
{
	/* seen once: it may have been killed before it reached the hook, unless its
	 * options say that it would not have reached it */
	return (s->times > 1 || s->shut) && !s->brief && !has_record(images, s);
}

/* Whether the same process left another record after this one. */
static bool has_successor(const json_t *images, const json_t *before)
{
	size_t i;
	json_t *e;
	json_array_foreach((json_t *)(uintptr_t)images, i, e)
	{
		if (json_equal(json_object_get(e, "pid"), json_object_get(before, "pid")) &&
		    json_equal(json_object_get(e, "host"), json_object_get(before, "host")) &&
		    json_number_value(json_object_get(e, "time")) >
			    json_number_value(json_object_get(before, "time")))
			return true;
	}
	return false;
}

/* The words of a JSON array, as ls_cmdline_read takes them; they belong to the array. */
enum { WORDS = 64 };
static size_t words_of(const json_t *array, const char *ret[WORDS + 1])
{
	size_t i, n = 0;
	json_t *w;
	json_array_foreach((json_t *)(uintptr_t)array, i, w)
	{
		if (json_is_string(w) && n < WORDS)
			ret[n++] = json_string_value(w);
	}
	ret[n] = NULL;
	return n;
}

static char *joined(const char *const *words)
{
	struct ls_str s = {0};
	for (size_t i = 0; words[i]; i++)
		ls_str_addf(&s, "%s%s", i ? " " : "", words[i]);
	return ls_str_take(&s);
}

/* The command line of an interpreter that a recorded one turned into by exec, without a
 * record of its own; NULL if there is none. */
static char *lost_by_exec(const json_t *images, const json_t *before)
{
	const char *words[WORDS + 1];
	words_of(json_object_get(before, "exec"), words);
	struct ls_cmdline c;
	ls_cmdline_read(words, &c);
	bool lost = c.python && !c.brief && !has_successor(images, before);
	ls_cmdline_done(&c);
	return lost ? joined(words) : NULL;
}

/* The command line of an interpreter that a recorded one started, and which its options
 * or its environment keep from the hook; NULL if this is none. It may have been too short
 * to be seen. */
static char *lost_by_spawn(const json_t *spawn)
{
	const char *words[WORDS + 1];
	size_t n = words_of(json_object_get(spawn, "argv"), words);
	struct ls_cmdline c;
	if (n > 2 && strcmp(words[1], "-c") == 0 && !ls_cmdline_is_python(words[0]))
		ls_cmdline_read_shell(words[2], &c);
	else
		ls_cmdline_read(words, &c);
	bool lost =
		c.python && !c.brief && (c.shut || json_is_true(json_object_get(spawn, "lost")));
	ls_cmdline_done(&c);
	return lost ? joined(words) : NULL;
}

static bool was_told(const struct ls_procscan *scan, const json_t *images, pid_t pid)
{
	for (size_t i = 0; i < scan->n; i++)
		if (scan->seen[i].pid == pid && is_uncovered(&scan->seen[i], images))
			return true;
	return false;
}

/* The same command is told once: it may have been seen running as well. */
static void add_take(json_t *uncovered, char *command)
{
	size_t i;
	json_t *have, *new = command ? ls_json_lossy(command) : NULL;
	json_array_foreach(uncovered, i, have)
	{
		if (new &&json_equal(have, new)) {
			json_decref(new);
			new = NULL;
		}
	}
	if (new)
		json_array_append_new(uncovered, new);
	free(command);
}

void ls_hook_match(json_t *collected, const struct ls_procscan *scan)
{
	json_t *uncovered = json_array(), *images = json_object_get(collected, "images"), *e;
	size_t i;
	for (i = 0; i < scan->n; i++)
		if (is_uncovered(&scan->seen[i], images))
			json_array_append_new(uncovered, ls_json_lossy(scan->seen[i].command));
	json_array_foreach(images, i, e)
	{
		pid_t pid = (pid_t)json_integer_value(json_object_get(e, "pid"));
		if (!was_told(scan, images, pid))
			add_take(uncovered, lost_by_exec(images, e));
	}
	json_array_foreach(json_object_get(collected, "spawns"), i, e)
		add_take(uncovered, lost_by_spawn(e));
	json_object_set_new(collected, "uncovered", uncovered);
	json_object_del(collected, "images");
	json_object_del(collected, "spawns");
}
