#include "fake_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- configuration and faults --- */

enum { MAX_FAULTS = 16, MAX_FUNCTIONS = 64 };

struct fake_config config;

static struct fault {
	char function[64];
	unsigned nth, code;
} faults[MAX_FAULTS];
static size_t n_faults;
static struct {
	const char *function;
	unsigned calls;
} counts[MAX_FUNCTIONS];
unsigned sticky, operations;
int initialised;
_Thread_local ls_cu_context current;

static void parse_config(const char *text)
{
	config.devices = 1;
	config.cc = 90;
	config.cuda = 13000;
	config.lazy = 1;
	config.sm = 3; /* odd, so that nothing divides evenly by accident */
	config.blocks = 0;
	config.mem = (uint64_t)1 << 32;
	config.order = FAKE_FORWARD;
	char copy[256], *save = NULL;
	snprintf(copy, sizeof copy, "%s", text ? text : "");
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *value = strchr(word, '=');
		if (!value) {
			fprintf(stderr, "fake_cuda: \"%s\" in the configuration has no value\n",
				word);
			abort();
		}
		*value++ = 0;
		if (strcmp(word, "devices") == 0)
			config.devices = (int)strtol(value, NULL, 10);
		else if (strcmp(word, "cc") == 0)
			config.cc = (int)strtol(value, NULL, 10);
		else if (strcmp(word, "cuda") == 0)
			config.cuda = (int)strtol(value, NULL, 10);
		else if (strcmp(word, "lazy") == 0)
			config.lazy = (int)strtol(value, NULL, 10);
		else if (strcmp(word, "sm") == 0)
			config.sm = (int)strtol(value, NULL, 10);
		else if (strcmp(word, "blocks") == 0)
			config.blocks = (int)strtol(value, NULL, 10);
		else if (strcmp(word, "mem") == 0)
			config.mem = strtoull(value, NULL, 10);
		else if (strcmp(word, "order") == 0)
			config.order = *value == 'r'   ? FAKE_REVERSE
				       : *value == 's' ? FAKE_SHUFFLE
						       : FAKE_FORWARD;
		else {
			fprintf(stderr, "fake_cuda: unknown setting \"%s\"\n", word);
			abort();
		}
	}
}

static void parse_faults(const char *text)
{
	n_faults = 0;
	for (const char *p = text ? text : ""; *p && n_faults < MAX_FAULTS;) {
		struct fault *f = &faults[n_faults++];
		const char *colon = strchr(p, ':');
		char *end = NULL;
		if (colon) {
			snprintf(f->function, sizeof f->function, "%.*s", (int)(colon - p), p);
			f->nth = (unsigned)strtoul(colon + 1, &end, 10);
		}
		if (!end || *end != ':') {
			fprintf(stderr, "fake_cuda: cannot read the fault \"%s\"\n", p);
			abort();
		}
		f->code = (unsigned)strtoul(end + 1, &end, 10);
		p = end;
		if (*p == ',')
			p++;
	}
}

void fake_cuda_setup(const char *script, const char *settings)
{
	parse_config(settings);
	parse_faults(script);
	memset(counts, 0, sizeof counts);
	sticky = operations = 0;
	initialised = 0;
}

unsigned fake_cuda_calls(const char *function)
{
	for (size_t i = 0; i < MAX_FUNCTIONS && counts[i].function; i++)
		if (strcmp(counts[i].function, function) == 0)
			return counts[i].calls;
	return 0;
}

unsigned count_call(const char *function)
{
	for (size_t i = 0; i < MAX_FUNCTIONS; i++) {
		if (!counts[i].function)
			counts[i].function = function;
		if (strcmp(counts[i].function, function) == 0)
			return ++counts[i].calls;
	}
	abort();
}

static int loses_the_device(unsigned code)
{
	return code == 46 || code == 214 || code == 220 || code == 226 || code == 700 ||
	       code == 702 || code == 710 || (code >= 714 && code <= 719) || code == 999;
}

unsigned scripted(const char *function, unsigned call)
{
	for (size_t i = 0; i < n_faults; i++)
		if (strcmp(faults[i].function, function) == 0 &&
		    (faults[i].nth == 0 || faults[i].nth == call)) {
			if (loses_the_device(faults[i].code))
				sticky = faults[i].code;
			return faults[i].code;
		}
	return 0;
}

/* --- what is alive --- */

static struct object *objects;
static char misuse[2048];
uint64_t device_bytes;

void add_object(const char *kind, void *key, size_t size)
{
	struct object *o = malloc(sizeof *o);
	if (!o)
		abort();
	*o = (struct object){objects, kind, key, size};
	objects = o;
}

struct object *find_object(const char *kind, const void *key)
{
	for (struct object *o = objects; o; o = o->next)
		if (o->key == key && strcmp(o->kind, kind) == 0)
			return o;
	return NULL;
}

int drop_object(const char *kind, void *key)
{
	for (struct object **at = &objects; *at; at = &(*at)->next)
		if ((*at)->key == key && strcmp((*at)->kind, kind) == 0) {
			struct object *o = *at;
			*at = o->next;
			free(o);
			return 1;
		}
	size_t n = strlen(misuse);
	snprintf(misuse + n, sizeof misuse - n, "freed what is not there: %s\n", kind);
	return 0;
}

int inside(ls_cu_ptr p, size_t size)
{
	for (struct object *o = objects; o; o = o->next)
		if (strcmp(o->kind, "device memory") == 0 && p >= (uintptr_t)o->key &&
		    p - (uintptr_t)o->key <= o->size &&
		    size <= o->size - (size_t)(p - (uintptr_t)o->key))
			return 1;
	return 0;
}

int fake_cuda_live(char *ret, size_t size)
{
	int n = *misuse != 0;
	size_t used = (size_t)snprintf(ret, size, "%s", misuse);
	for (struct object *o = objects; o; o = o->next, n++)
		if (used < size)
			used += (size_t)snprintf(ret + used, size - used, "%s of %zu bytes\n",
						 o->kind, o->size);
	*misuse = 0;
	return n;
}

__attribute__((destructor)) static void at_exit(void)
{
	char list[4096];
	if (fake_cuda_live(list, sizeof list) == 0)
		return;
	fprintf(stderr, "fake_cuda: left behind at the end:\n%s", list);
	_exit(97);
}
