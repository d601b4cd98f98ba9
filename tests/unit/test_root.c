#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "env/elf/library.h"
#include "env/facts/root.h"

static char root[] = "/tmp/ls-root-XXXXXX";

static char *in_root(const char *path)
{
	return ls_xasprintf("%s%s", root, path);
}

static void make_dir(const char *path)
{
	char *p = in_root(path);
	assert_int_equal(mkdir(p, 0777), 0);
	free(p);
}

static void make_file(const char *path, const char *text)
{
	char *p = in_root(path);
	struct ls_err err;
	assert_int_equal(ls_file_write_atomic(p, text, strlen(text), &err), 0);
	free(p);
}

static void make_link(const char *path, const char *target)
{
	char *p = in_root(path);
	assert_int_equal(symlink(target, p), 0);
	free(p);
}

static void expect(const char *path, const char *resolved)
{
	char *got = ls_root_resolve(root, path);
	if (resolved)
		assert_string_equal(got, resolved);
	else
		assert_null(got);
	free(got);
}

static void links_stay_inside(void **state)
{
	(void)state;
	make_dir("/a");
	make_dir("/a/b");
	make_file("/a/b/f", " text \n");
	make_link("/abs", "/a/b");
	make_link("/a/up", "../abs/f");
	make_link("/out", "../../../../etc");
	make_link("/loop", "loop");
	make_link("/gone", "nothing");
	expect("/a/b/f", "/a/b/f");
	expect("/abs/f", "/a/b/f");
	expect("//a/./b/../up", "/a/b/f");
	expect("/", "/");
	expect("/../..", "/");
	expect("/out/passwd", NULL); /* the machine's own file is not reached */
	expect("/loop", NULL);
	expect("/gone", NULL);
	expect("/a/b/f/x", NULL);
	char *line = ls_root_line(root, "/a/up");
	assert_string_equal(line, "text");
	free(line);
	assert_true(ls_root_is_dir(root, "/abs"));
	assert_false(ls_root_is_program(root, "/a/b/f"));
	assert_null(ls_root_read(root, "/a", 10, NULL)); /* a folder */
}

static void versions_of_library_files(void **state)
{
	(void)state;
	char *source = NULL, *version;
	make_dir("/lib");
	make_dir("/include");
	make_file("/lib/libcudnn.so.8.9.2", "");
	make_link("/lib/libcudnn.so.8", "libcudnn.so.8.9.2");
	make_file("/lib/libcudart.so.11.0", "");
	make_file("/lib/libcudart.so.9.2", "");
	make_file("/lib/libnccl.so.2", "");
	make_file("/include/nccl.h", "#define NCCL_MAJOR 2\n#define NCCL_MINOR 20\n#define "
				     "NCCL_PATCH 5\n#define NCCL_SUFFIX \"\"\n");
	make_file("/lib/libnvrtc-b51b459d.so.12", "");
	make_file("/lib/libnvrtc-builtins.so.12.1", "");
	version = ls_library_version(root, "cudnn", "/lib/libcudnn.so.8", true, &source);
	assert_string_equal(version, "8.9.2");
	free(version);
	free(source);
	/* 11.0 is the SONAME of every CUDA 11: no version */
	assert_null(ls_library_version(root, "cudart", "/lib/libcudart.so.11.0", true, &source));
	version = ls_library_version(root, "nccl", "/lib/libnccl.so.2", true, &source);
	assert_string_equal(version, "2.20.5");
	assert_string_equal(source, "/include/nccl.h");
	free(version);
	free(source);
	version = ls_library_version(root, "nvrtc", "/lib/libnvrtc-b51b459d.so.12", true, &source);
	assert_string_equal(version, "12.1");
	free(version);
	free(source);
	char *path = ls_library_in_folder(root, "/lib", "cudart"); /* 11.0 is above 9.2 */
	assert_string_equal(path, "/lib/libcudart.so.11.0");
	free(path);
	path = ls_library_in_folder(root, "/lib", "nvrtc");
	assert_string_equal(path, "/lib/libnvrtc-b51b459d.so.12");
	free(path);
	struct ls_found_library lib;
	assert_true(ls_library_find(&(struct ls_loader_env){root, "/nowhere:/lib", NULL}, "cudnn",
				    &lib));
	assert_string_equal(lib.how, "LD_LIBRARY_PATH");
	ls_library_done(&lib);
	assert_true(ls_library_find(&(struct ls_loader_env){root, NULL, NULL}, "cudnn", &lib));
	assert_string_equal(lib.how, "default folder");
	ls_library_done(&lib);
	assert_false(ls_library_find(&(struct ls_loader_env){root, NULL, NULL}, "cupti", &lib));
}

int main(void)
{
	if (!mkdtemp(root))
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_stay_inside),
		cmocka_unit_test(versions_of_library_files),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	char command[64];
	snprintf(command, sizeof command, "rm -rf '%s'", root);
	return system(command) == 0 ? rc : 1;
}
