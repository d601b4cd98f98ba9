#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "env/elf/elf.h"

static char *load(const char *name, size_t *len)
{
	char path[512], *bytes;
	struct ls_err err;
	snprintf(path, sizeof path, "%s/tests/fuzz/corpus/elf/%s", LS_SOURCE_DIR, name);
	assert_int_equal(ls_file_read(path, 1 << 20, &bytes, len, &err), 0);
	return bytes;
}

static struct ls_elf parsed(const char *name)
{
	size_t len;
	char *bytes = load(name, &len);
	struct ls_elf elf;
	struct ls_err err;
	assert_int_equal(ls_elf_read(bytes, len, &elf, &err), 0);
	free(bytes);
	return elf;
}

static void what_files_ask_for(void **state)
{
	(void)state;
	struct ls_elf elf = parsed("runpath");
	assert_null(elf.rpath);
	assert_string_equal(elf.runpath, "$ORIGIN/../../nvidia/cudnn/lib:$ORIGIN");
	assert_string_equal(elf.needed[0], "libcudnn.so.9");
	assert_string_equal(elf.needed[2], "libc.so.6");
	assert_null(elf.needed[3]);
	ls_elf_done(&elf);
	elf = parsed("rpath");
	assert_string_equal(elf.rpath, "${ORIGIN}/../lib");
	assert_null(elf.runpath);
	ls_elf_done(&elf);
	elf = parsed("both");
	assert_string_equal(elf.rpath, "/a");
	assert_string_equal(elf.runpath, "/b");
	assert_null(elf.needed[0]);
	ls_elf_done(&elf);
	elf = parsed("real"); /* by gcc, with new dtags */
	assert_string_equal(elf.runpath, "$ORIGIN");
	ls_elf_done(&elf);
	ls_elf_done(&elf);
}

static void what_is_cut_is_refused(void **state)
{
	(void)state;
	size_t len;
	char *bytes = load("runpath", &len);
	struct ls_elf elf = {0};
	struct ls_err err;
	for (size_t n = 0; n < len; n++)
		assert_int_equal(ls_elf_read(bytes, n, &elf, &err), LS_EINPUT);
	assert_null(elf.needed);
	free(bytes);
}

/* Every byte set to everything: refused or read, never out of bounds (the sanitizers
 * look). */
static void what_is_wrong_does_no_harm(void **state)
{
	(void)state;
	size_t len, read = 0;
	char *bytes = load("both", &len);
	struct ls_err err;
	for (size_t at = 0; at < len; at++)
		for (int v = 0; v < 256; v += 17) {
			char was = bytes[at];
			struct ls_elf elf;
			bytes[at] = (char)v;
			if (ls_elf_read(bytes, len, &elf, &err) == 0) {
				read++;
				ls_elf_done(&elf);
			}
			bytes[at] = was;
		}
	assert_true(read > 0);
	free(bytes);
}

static void origin_is_put_in(void **state)
{
	(void)state;
	static const struct {
		const char *list, *out;
	} cases[] = {{"$ORIGIN", "/o"},
		     {"${ORIGIN}/lib:$ORIGIN/../x", "/o/lib:/o/../x"},
		     {"/a:/b", "/a:/b"},
		     {"", ""},
		     {"$ORIG:$", "$ORIG:$"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *out = ls_elf_expand(cases[i].list, "/o");
		assert_string_equal(out, cases[i].out);
		free(out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_files_ask_for),
		cmocka_unit_test(what_is_cut_is_refused),
		cmocka_unit_test(what_is_wrong_does_no_harm),
		cmocka_unit_test(origin_is_put_in),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
