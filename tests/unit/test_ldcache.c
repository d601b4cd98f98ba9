#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "env/elf/ldcache.h"

struct seen {
	unsigned n;
	char name[64], path[128];
};

static bool see(void *arg, const char *name, const char *path)
{
	struct seen *s = arg;
	s->n++;
	snprintf(s->name, sizeof s->name, "%s", name);
	snprintf(s->path, sizeof s->path, "%s", path);
	return true;
}

static char *load(const char *name, size_t *len)
{
	char path[512], *bytes;
	struct ls_err err;
	snprintf(path, sizeof path, "%s/tests/fuzz/corpus/ldcache/%s", LS_SOURCE_DIR, name);
	assert_int_equal(ls_file_read(path, 1 << 20, &bytes, len, &err), 0);
	return bytes;
}

static void entries_of_one_machine(void **state)
{
	(void)state;
	const char *const files[] = {"new", "old-and-new"};
	for (size_t i = 0; i < 2; i++) {
		size_t len;
		char *bytes = load(files[i], &len);
		struct ls_err err;
		struct seen s = {0};
		assert_int_equal(ls_ldcache_each(bytes, len, LS_LDCACHE_X86_64, see, &s, &err), 0);
		assert_int_equal(s.n, 1);
		assert_string_equal(s.name, "libcudart.so.12");
		s = (struct seen){0};
		assert_int_equal(ls_ldcache_each(bytes, len, LS_LDCACHE_AARCH64, see, &s, &err), 0);
		assert_string_equal(s.path, "/usr/lib/aarch64-linux-gnu/libcudnn.so.9");
		free(bytes);
	}
}

static void what_is_cut_is_refused(void **state)
{
	(void)state;
	size_t len;
	char *bytes = load("new", &len);
	struct ls_err err;
	struct seen s = {0};
	assert_int_equal(ls_ldcache_each(bytes, len - 1, LS_LDCACHE_X86_64, see, &s, &err),
			 LS_EINPUT);
	assert_int_equal(ls_ldcache_each(bytes, 47, LS_LDCACHE_X86_64, see, &s, &err), LS_EINPUT);
	bytes[20] = (char)0xff; /* far more entries than there are bytes */
	bytes[23] = (char)0xff;
	assert_int_equal(ls_ldcache_each(bytes, len, LS_LDCACHE_X86_64, see, &s, &err), LS_EINPUT);
	free(bytes);
	assert_int_equal(ls_ldcache_each("", 0, LS_LDCACHE_X86_64, see, &s, &err), LS_EINPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_of_one_machine),
		cmocka_unit_test(what_is_cut_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
