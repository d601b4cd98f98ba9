#include "job/slurm_partitions.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "job/row.h"
#include "job/slurm_tool.h"

/* sinfo's long format pads each field to a width and has no separator. */
static const struct {
	const char *name;
	int width;
} fields[] = {{"Partition", 128}, {"Available", 16},    {"Time", 32},
	      {"NodeList", 256},  {"StateCompact", 32}, {"CPUsState", 64},
	      {"Memory", 32},     {"Gres", 1024},       {"GresUsed", 1024}};

enum { PARTITION, AVAILABLE, TIME, NODE, STATE, CPUS, MEMORY, GRES, GRES_USED, FIELDS };

/* --- one line --- */

/* Cuts a line into its fields, without the blanks behind them. False: it is too short, or
 * a value fills its field and may have been cut off. */
static bool cut(char *line, char *ret[FIELDS])
{
	size_t len = strlen(line), at = 0;
	for (int i = 0; i < FIELDS; i++) {
		size_t wide = (size_t)fields[i].width;
		if (len - at < wide || line[at + wide - 1] != ' ')
			return false;
		size_t n = wide - 1;
		while (n > 0 && line[at + n - 1] == ' ')
			n--;
		ret[i] = line + at;
		ret[i][n] = 0;
		at += wide;
	}
	return true;
}

/* "1-02:03:04", "infinite" (-1), or nonsense (-1, too: no limit is known). */
static int64_t seconds_of(const char *text)
{
	int64_t days = 0, part[3] = {0}, n = 0;
	const char *p = text;
	char *end;
	if (strchr(text, '-')) {
		days = strtol(p, &end, 10);
		p = end + 1;
	}
	for (; n < 3 && *p >= '0' && *p <= '9'; n++) {
		part[n] = strtol(p, &end, 10) % 100000;
		p = *end == ':' ? end + 1 : end;
	}
	if (n < 2 || *p || days < 0 || days > 100000)
		return -1;
	return n == 3 ? ((days * 24 + part[0]) * 60 + part[1]) * 60 + part[2]
		      : part[0] * 60 + part[1];
}

/* A state begins with a word and may end in marks: "*" does not answer, "~" sleeps to
 * save power and wakes up for a job. */
static bool is_usable(const char *state)
{
	static const char *const good[] = {"idle", "mix", "alloc", "comp", "plnd"};
	size_t n = strcspn(state, "*~#!%$@^-+");
	if (strpbrk(state, "*!%$@^-"))
		return false;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (strlen(good[i]) == n && strncmp(state, good[i], n) == 0)
			return true;
	return false;
}

/* --- GPUs of a node --- */

enum { MOST_TYPES = 16, TYPE_TEXT = 64 };

struct gpus {
	char type[TYPE_TEXT]; /* "": none is given */
	int64_t n;
};

/* "gpu:h200:2(S:0-1)", "gpu:4", "shard:…", separated by commas outside of parentheses.
 * Returns the number of kinds of GPU. */
static size_t gpus_of(const char *gres, struct gpus ret[MOST_TYPES])
{
	size_t found = 0;
	for (const char *p = gres; *p && found < MOST_TYPES;) {
		size_t word = strcspn(p, ",(");
		char text[256], *last;
		snprintf(text, sizeof text, "%.*s", (int)(word < 255 ? word : 255), p);
		if (strncmp(text, "gpu:", 4) == 0 && (last = strrchr(text, ':'))) {
			struct gpus *g = &ret[found++];
			char *end;
			*g = (struct gpus){.n = strtol(last + 1, &end, 10)};
			if (end == last + 1 || *end || g->n < 0 || g->n > 4096)
				found--;
			else if (last > text + 4)
				snprintf(g->type, sizeof g->type, "%.*s", (int)(last - text - 4),
					 text + 4);
		}
		p += word;
		if (*p == '(')
			p += strcspn(p, ")");
		p += strcspn(p, ",");
		p += *p == ',';
	}
	return found;
}

static int64_t used_of(const struct gpus *used, size_t n, const char *type)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(used[i].type, type) == 0)
			return used[i].n;
	return 0;
}

/* --- adding up --- */

static void add(json_t *to, const char *key, int64_t n)
{
	json_object_set_new(to, key, json_integer(ls_col_int(to, key, 0) + n));
}

static void raise(json_t *to, const char *key, int64_t n)
{
	if (n > ls_col_int(to, key, 0))
		json_object_set_new(to, key, json_integer(n));
}

/* The entry of a type in a partition's list, made where it is not there. */
static json_t *entry_of(json_t *list, const char *type)
{
	json_t *e;
	size_t i;
	json_array_foreach(list, i, e)
	{
		const char *t = ls_col_text(e, "type");
		if (strcmp(t ? t : "", type) == 0)
			return e;
	}
	e = json_pack("{s:o,s:i,s:i,s:i,s:i}", "type", *type ? ls_json_lossy(type) : json_null(),
		      "per_node", 0, "total", 0, "free", 0, "free_on_one_node", 0);
	json_array_append_new(list, e);
	return e;
}

static void add_gpus(json_t *list, const char *gres, const char *gres_used, bool usable)
{
	struct gpus has[MOST_TYPES], used[MOST_TYPES];
	size_t n = gpus_of(gres, has), n_used = gpus_of(gres_used, used);
	for (size_t i = 0; i < n; i++) {
		json_t *e = entry_of(list, has[i].type);
		int64_t rest = has[i].n - used_of(used, n_used, has[i].type);
		add(e, "total", has[i].n);
		raise(e, "per_node", has[i].n);
		if (usable && rest > 0) {
			add(e, "free", rest);
			raise(e, "free_on_one_node", rest);
		}
	}
}

/* "allocated/idle/other/total" */
static int64_t cpus_of(const char *text)
{
	const char *last = strrchr(text, '/');
	return last ? strtol(last + 1, NULL, 10) : 0;
}

static json_t *partition_of(json_t *list, char *f[FIELDS])
{
	json_t *p;
	size_t i, len = strlen(f[PARTITION]);
	bool is_default = len && f[PARTITION][len - 1] == '*';
	if (is_default)
		f[PARTITION][len - 1] = 0;
	json_array_foreach(list, i,
			   p) if (strcmp(ls_col_text(p, "partition"), f[PARTITION]) == 0) return p;
	int64_t limit = seconds_of(f[TIME]);
	p = json_pack("{s:o,s:b,s:b,s:o,s:i,s:i,s:i,s:i,s:i,s:[]}", "partition",
		      ls_json_lossy(f[PARTITION]), "default", (int)is_default, "up",
		      strcmp(f[AVAILABLE], "up") == 0, "time_limit_s",
		      limit >= 0 ? json_integer(limit) : json_null(), "nodes", 0, "usable_nodes", 0,
		      "idle_nodes", 0, "cpus_per_node", 0, "memory_mib_per_node", 0, "gpus");
	json_array_append_new(list, p);
	return p;
}

static void add_node(json_t *list, char *f[FIELDS])
{
	json_t *p = partition_of(list, f);
	bool usable = is_usable(f[STATE]);
	add(p, "nodes", 1);
	add(p, "usable_nodes", usable);
	add(p, "idle_nodes", usable && strncmp(f[STATE], "idle", 4) == 0);
	raise(p, "cpus_per_node", cpus_of(f[CPUS]));
	raise(p, "memory_mib_per_node", strtol(f[MEMORY], NULL, 10));
	add_gpus(json_object_get(p, "gpus"), f[GRES], f[GRES_USED], usable);
}

json_t *ls_slurm_partitions_parse(char *text)
{
	json_t *list = json_array();
	char *save = NULL, *f[FIELDS];
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (cut(line, f) && f[PARTITION][strspn(f[PARTITION], "*")])
			add_node(list, f);
	return list;
}

int ls_slurm_partitions(json_t **ret, struct ls_err *err)
{
	struct ls_str format = {0};
	char *text = NULL;
	for (int i = 0; i < FIELDS; i++)
		ls_str_addf(&format, "%s%s:%d", i ? "," : "", fields[i].name, fields[i].width);
	int rc = ls_slurm_ask((const char *[]){"sinfo", "-h", "-N", "-O", format.s, NULL}, &text,
			      err);
	if (!rc)
		*ret = ls_slurm_partitions_parse(text);
	ls_str_done(&format);
	free(text);
	return rc;
}
