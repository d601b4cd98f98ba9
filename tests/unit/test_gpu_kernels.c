/* Where kernels come from: embedded PTX, NVRTC, the cache, and every way in which these
 * can fail; over stand-ins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../fake/fake_cuda.h"
#include "../fake/fake_nvrtc.h"
#include "base/file.h"
#include "gpu/cache.h"
#include "gpu/driver.h"
#include "gpu/kernels.h"
#include "gpu/nvrtc.h"

#define LIBCUDA  LS_BINARY_DIR "/fake/libcuda.so.1"
#define LIBNVRTC LS_BINARY_DIR "/fake/libnvrtc.so.13"

static fake_cuda_setup_fn *setup;
static fake_cuda_live_fn *live;
static fake_cuda_calls_fn *calls;
static fake_nvrtc_setup_fn *rtc_setup;
static fake_nvrtc_options_fn *rtc_options;
static fake_nvrtc_live_fn *rtc_live;

static const char *const some_nvrtc[] = {"/no/such/libnvrtc.so.13", LIBNVRTC, NULL};
static const char *const no_nvrtc[] = {"/no/such/libnvrtc.so.13", NULL};
static const char *const *wanted; /* names for ls_kernels_load */
static char dir[64], cache[96], embedded[64], embedded_cached[80];

static int load_stand_ins(void **state)
{
	(void)state;
	void *cuda = dlopen(LIBCUDA, RTLD_NOW), *rtc = dlopen(LIBNVRTC, RTLD_NOW);
	if (!cuda || !rtc)
		return -1;
	*(void **)&setup = dlsym(cuda, "fake_cuda_setup");
	*(void **)&live = dlsym(cuda, "fake_cuda_live");
	*(void **)&calls = dlsym(cuda, "fake_cuda_calls");
	*(void **)&rtc_setup = dlsym(rtc, "fake_nvrtc_setup");
	*(void **)&rtc_options = dlsym(rtc, "fake_nvrtc_options");
	*(void **)&rtc_live = dlsym(rtc, "fake_nvrtc_live");
	return setup && live && calls && rtc_setup && rtc_options && rtc_live ? 0 : -1;
}

static int fresh_folder(void **state)
{
	(void)state;
	snprintf(dir, sizeof dir, "/tmp/ls-kernels-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(cache, sizeof cache, "%s/deep/kernels", dir);
	snprintf(embedded, sizeof embedded, "embedded PTX for compute_%d", ls_kernels_embedded());
	snprintf(embedded_cached, sizeof embedded_cached, "%s, cached", embedded);
	setup(NULL, NULL);
	rtc_setup(NULL, 12040, "60 75 80 90");
	wanted = NULL;
	return 0;
}

static int drop_folder(void **state)
{
	(void)state;
	char command[160];
	snprintf(command, sizeof command, "chmod -R u+w '%s' && rm -r '%s'", dir, dir);
	return system(command);
}

/* Opens the device, loads the module, closes all; nothing may stay behind. */
static int try_load(const struct ls_kernels_conf *conf, const char *module,
		    struct ls_kernels_how *how, struct ls_err *err)
{
	struct ls_gpu *gpu;
	ls_cu_module m = NULL;
	struct ls_gpu_kernel k;
	char list[1024];
	assert_int_equal(ls_gpu_open(LIBCUDA, 0, &gpu, err), 0);
	int rc = ls_kernels_load(gpu, conf, module, wanted, &m, how, err);
	if (rc == 0)
		assert_int_equal(ls_gpu_kernel(gpu, m, "selftest", &k, err), 0);
	else
		assert_null(m);
	ls_gpu_module_free(gpu, m);
	ls_gpu_close(gpu);
	assert_int_equal(live(list, sizeof list), 0);
	assert_int_equal(rtc_live(), 0);
	return rc;
}

static void loads(const struct ls_kernels_conf *conf, const char *expected)
{
	struct ls_kernels_how how = {0};
	struct ls_err err = {0};
	int rc = try_load(conf, "selftest", &how, &err);
	if (rc)
		fail_msg("%s", err.msg);
	assert_string_equal(how.text, expected);
}

static char *only_entry(void)
{
	static char path[512];
	DIR *d = opendir(cache);
	assert_non_null(d);
	int n = 0;
	for (struct dirent *e; (e = readdir(d));)
		if (e->d_name[0] != '.' && ++n)
			snprintf(path, sizeof path, "%s/%s", cache, e->d_name);
	closedir(d);
	assert_int_equal(n, 1);
	return path;
}

/* --- all is well --- */

static void embedded_ptx_is_loaded_and_cached(void **state)
{
	(void)state;
	struct ls_kernels_conf conf = {.cache_dir = cache};
	loads(&conf, embedded);
	assert_int_equal(calls("cuLinkComplete"), 1);
	setup(NULL, NULL);
	loads(&conf, embedded_cached);
	assert_int_equal(calls("cuLinkComplete"), 0);
	struct stat st;
	assert_int_equal(stat(cache, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
}

static void another_driver_or_gpu_is_another_entry(void **state)
{
	(void)state;
	struct ls_kernels_conf conf = {.cache_dir = cache};
	const char *const configs[] = {"cuda=13000 cc=90", "cuda=12080 cc=90", "cuda=13000 cc=80"};
	for (int i = 0; i < 3; i++) {
		setup(NULL, configs[i]);
		loads(&conf, embedded);
	}
	for (int i = 0; i < 3; i++) {
		setup(NULL, configs[i]);
		loads(&conf, embedded_cached);
	}
}

static void without_a_cache_nothing_is_written(void **state)
{
	(void)state;
	struct ls_kernels_conf conf = {0};
	loads(&conf, embedded);
	loads(&conf, embedded);
	assert_int_equal(rmdir(dir), 0); /* still empty */
	assert_int_equal(mkdir(dir, 0700), 0);
}

static void sources_are_compiled_for_this_gpu(void **state)
{
	(void)state;
	struct ls_kernels_conf conf = {
		.cache_dir = cache, .nvrtc = some_nvrtc, .from_source = true};
	loads(&conf, "NVRTC 12.4 for sm_90");
	assert_string_equal(
		rtc_options(),
		"--gpu-architecture=sm_90 --std=c++17 --fmad=false --ftz=false --prec-div=true "
		"--prec-sqrt=true ");
	rtc_setup("nvrtcCompileProgram:6", 12040, "60 75 80 90"); /* the cache does not ask it */
	loads(&conf, "NVRTC 12.4 for sm_90, cached");
	rtc_setup(NULL, 13000, "75 80 90");
	loads(&conf, "NVRTC 13.0 for sm_90"); /* another compiler, another entry */
}

static void a_gpu_newer_than_nvrtc_gets_ptx(void **state)
{
	(void)state;
	struct ls_kernels_conf conf = {
		.cache_dir = cache, .nvrtc = some_nvrtc, .from_source = true};
	setup(NULL, "cc=120");
	loads(&conf, "NVRTC 12.4 for sm_90");
	assert_non_null(strstr(rtc_options(), "--gpu-architecture=compute_90 "));
	assert_int_equal(calls("cuLinkComplete"), 1);
	loads(&conf, "NVRTC 12.4 for sm_90, cached");
	setup(NULL, "cc=86"); /* the same generation as 80: machine code of that runs */
	loads(&conf, "NVRTC 12.4 for sm_80");
	assert_int_equal(calls("cuLinkComplete"), 0);
}

/* --- the cache --- */

static void spoil(const char *path, int how)
{
	char *bytes;
	size_t len;
	struct ls_err err;
	assert_int_equal(ls_file_read(path, 1 << 24, &bytes, &len, &err), 0);
	if (how == 0)
		len -= 1; /* cut short */
	else if (how == 1)
		bytes[len - 1] ^= 1;
	else if (how == 2)
		bytes[0] ^= 1;
	else if (how == 3)
		bytes[40] ^= 1; /* in the key */
	else if (how == 4)
		len = 0;
	else
		len = 60; /* half a head */
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
	free(bytes);
}

static void a_spoilt_entry_is_made_again(void **state)
{
	(void)state;
	struct ls_kernels_conf conf = {.cache_dir = cache};
	loads(&conf, embedded);
	for (int how = 0; how < 6; how++) {
		spoil(only_entry(), how);
		loads(&conf, embedded);
		loads(&conf, embedded_cached);
	}
}

/* Read, it would never end. */
static void a_pipe_in_an_entrys_place_is_no_entry(void **state)
{
	(void)state;
	struct ls_kernels_conf conf = {.cache_dir = cache};
	loads(&conf, embedded);
	char *path = strdup(only_entry());
	assert_non_null(path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	loads(&conf, embedded);
	loads(&conf, embedded_cached);
	free(path);
}

static void an_entry_the_driver_refuses_is_made_again(void **state)
{
	(void)state;
	struct ls_kernels_conf conf = {.cache_dir = cache};
	loads(&conf, embedded);
	setup("cuModuleLoadDataEx:1:200", NULL);
	loads(&conf, embedded);
	setup(NULL, NULL);
	loads(&conf, embedded_cached);
	/* whole and well-formed, but not code */
	char *bytes, key[LS_SHA256_HEX];
	size_t len;
	struct ls_err err;
	assert_int_equal(ls_file_read(only_entry(), 1 << 24, &bytes, &len, &err), 0);
	memcpy(key, strstr(bytes, "key ") + 4, 64);
	key[64] = 0;
	free(bytes);
	assert_int_equal(ls_cache_put(cache, "selftest", key, "rubbish", 7, &err), 0);
	loads(&conf, embedded);
	loads(&conf, embedded_cached);
}

static void a_cache_that_cannot_be_written_is_no_error(void **state)
{
	(void)state;
	struct ls_kernels_conf conf = {.cache_dir = "/proc/no/such/place"};
	loads(&conf, embedded);
	struct ls_err err;
	char key[LS_SHA256_HEX];
	ls_sha256("", 0, key);
	assert_int_equal(ls_cache_put("/proc/no/such/place", "m", key, "x", 1, &err), LS_ENOENT);
	assert_non_null(strstr(err.msg, "/proc/no"));
}

static void entries_come_back_as_they_went(void **state)
{
	(void)state;
	char key[LS_SHA256_HEX], other[LS_SHA256_HEX], code[1000];
	struct ls_err err;
	size_t len = 7;
	for (size_t i = 0; i < sizeof code; i++)
		code[i] = (char)(i * 7);
	ls_sha256("a", 1, key);
	ls_sha256("b", 1, other);
	for (size_t n = 0; n <= sizeof code; n += 250) {
		assert_int_equal(ls_cache_put(cache, "m", key, code, n, &err), 0);
		char *back = ls_cache_get(cache, "m", key, &len);
		assert_non_null(back);
		assert_int_equal(len, n);
		assert_memory_equal(back, code, n);
		free(back);
	}
	assert_null(ls_cache_get(cache, "m", other, &len));
	assert_null(ls_cache_get(cache, "n", key, &len));
	ls_cache_drop(cache, "m", key);
	assert_null(ls_cache_get(cache, "m", key, &len));
}

static int count_entries(void)
{
	int n = 0;
	DIR *d = opendir(cache);
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void a_set_of_kernels_is_an_entry(void **state)
{
	(void)state;
	static const char *const one[] = {"selftest", NULL},
				 *const both[] = {"selftest", "selftest_function", NULL},
				 *const turned[] = {"selftest_function", "selftest", NULL};
	struct ls_kernels_conf conf = {.cache_dir = cache};
	wanted = one;
	loads(&conf, embedded);
	loads(&conf, embedded_cached);
	only_entry();
	wanted = both;
	loads(&conf, embedded);
	wanted = turned; /* the same set */
	loads(&conf, embedded_cached);
	wanted = NULL; /* and that is all there are */
	loads(&conf, embedded_cached);
	assert_int_equal(count_entries(), 2);
}

static bool is_kept(const char *words)
{
	char *bytes;
	size_t len;
	assert_int_equal(ls_file_read(only_entry(), 1 << 24, &bytes, &len, NULL), 0);
	bool found = memmem(bytes, len, words, strlen(words)) != NULL;
	free(bytes);
	return found;
}

static void the_driver_is_given_what_is_wanted(void **state)
{
	(void)state;
	static const char *const one[] = {"selftest", NULL};
	struct ls_kernels_conf conf = {.cache_dir = cache};
	wanted = one;
	loads(&conf, embedded);
	assert_true(is_kept(".entry selftest("));
	assert_false(is_kept(".entry selftest_function("));
}

static void ptx_that_is_not_understood_stays_whole(void **state)
{
	(void)state;
	static const char *const one[] = {"selftest", NULL};
	struct ls_kernels_conf conf = {
		.cache_dir = cache, .nvrtc = some_nvrtc, .from_source = true};
	setup(NULL, "cc=120");
	rtc_setup("debug:1", 12040, "60 75 80 90");
	wanted = one;
	loads(&conf, "NVRTC 12.4 for sm_90");
	assert_true(is_kept(".section .debug_info") && is_kept(".entry selftest_function("));
}

static void sets_of_sources_are_kept_apart(void **state)
{
	(void)state;
	static const char *const one[] = {"selftest", NULL}, *const both[] = {"selftest",
									      "selftest_function",
									      NULL};
	struct ls_kernels_conf conf = {
		.cache_dir = cache, .nvrtc = some_nvrtc, .from_source = true};
	setup(NULL, "cc=120"); /* PTX, which is cut */
	wanted = one;
	loads(&conf, "NVRTC 12.4 for sm_90");
	wanted = both;
	loads(&conf, "NVRTC 12.4 for sm_90");
	loads(&conf, "NVRTC 12.4 for sm_90, cached");
	assert_int_equal(count_entries(), 2);
	setup(NULL, "cc=90"); /* machine code, which has them all */
	loads(&conf, "NVRTC 12.4 for sm_90");
	wanted = one;
	loads(&conf, "NVRTC 12.4 for sm_90, cached");
	assert_int_equal(count_entries(), 3);
}

/* --- failures --- */

static void kernels_that_are_not_there_are_internal(void **state)
{
	(void)state;
	static const char *const names[] = {"selftest", "selftest_func", NULL};
	struct ls_kernels_conf conf = {.cache_dir = cache, .nvrtc = some_nvrtc};
	struct ls_err err = {0};
	wanted = names;
	assert_int_equal(try_load(&conf, "selftest", NULL, &err), LS_EINTERNAL);
	assert_string_equal(err.msg,
			    "selftest: there is no kernel called selftest_func in the PTX");
}

static void refused_ptx_goes_to_nvrtc(void **state)
{
	(void)state;
	static const unsigned refusals[] = {200, 209, 218, 221, 222, 223};
	struct ls_kernels_conf conf = {.nvrtc = some_nvrtc};
	for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		char script[64];
		snprintf(script, sizeof script, "cuLinkAddData_v2:1:%u", refusals[i]);
		setup(script, NULL);
		loads(&conf, "NVRTC 12.4 for sm_90");
	}
	setup(NULL, "cc=60"); /* older than the embedded PTX */
	loads(&conf, "NVRTC 12.4 for sm_60");
}

static void fails(const struct ls_kernels_conf *conf, int code, const char *words, const char *more)
{
	struct ls_err err = {0};
	assert_int_equal(try_load(conf, "selftest", NULL, &err), code);
	if (!strstr(err.msg, words) || !strstr(err.msg, more))
		fail_msg("\"%s\" and \"%s\" are not both in: %s", words, more, err.msg);
}

static void a_driver_too_old_without_nvrtc_says_so(void **state)
{
	(void)state;
	struct ls_kernels_conf conf = {.nvrtc = no_nvrtc};
	setup("cuLinkAddData_v2:1:222", "cuda=11040");
	fails(&conf, LS_EUNKNOWN, "update the NVIDIA driver", "no usable NVRTC");
	setup(NULL, "cc=60");
	fails(&conf, LS_EUNKNOWN, "compute capability 6.0", "/no/such/libnvrtc.so.13");
	conf.nvrtc = some_nvrtc;
	rtc_setup(NULL, 13000, "75 80 90");
	fails(&conf, LS_EUNKNOWN, "no longer serves compute capability 6.0", "oldest is 7.5");
	conf.from_source = true;
	setup(NULL, "cc=60");
	fails(&conf, LS_EUNKNOWN, "this program has no embedded PTX", "no longer serves");
}

static void other_failures_do_not_go_to_nvrtc(void **state)
{
	(void)state;
	struct ls_kernels_conf conf = {.nvrtc = some_nvrtc, .cache_dir = cache};
	setup("cuLinkComplete:1:2", NULL);
	fails(&conf, LS_ENOMEM, "too little free memory", "selftest");
	setup("cuLinkCreate_v2:1:719", NULL);
	fails(&conf, LS_EIO, "checkpoint", "selftest");
	setup(NULL, NULL);
	loads(&conf, embedded);
	setup("cuModuleLoadDataEx:1:700",
	      NULL); /* lost while loading from the cache: the entry is not to blame */
	fails(&conf, LS_EIO, "lost", "checkpoint");
	only_entry();
}

static void unknown_modules_are_internal(void **state)
{
	(void)state;
	struct ls_kernels_conf conf = {.nvrtc = some_nvrtc};
	struct ls_err err;
	const char *const names[] = {"self", "selftests", "", "selftest.cu"};
	for (int i = 0; i < 4; i++)
		assert_int_equal(try_load(&conf, names[i], NULL, &err), LS_EINTERNAL);
}

static void nvrtc_failures_have_a_place(void **state)
{
	(void)state;
	struct ls_kernels_conf conf = {.nvrtc = some_nvrtc, .from_source = true};
	static const char *const functions[] = {
		"nvrtcVersion",       "nvrtcGetNumSupportedArchs", "nvrtcGetSupportedArchs",
		"nvrtcCreateProgram", "nvrtcGetCUBINSize",         "nvrtcGetCUBIN"};
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		char script[64];
		snprintf(script, sizeof script, "%s:5", functions[i]);
		rtc_setup(script, 12040, "60 90");
		fails(&conf, LS_EUNKNOWN, "libnvrtc.so.13", "NVRTC_ERROR_SCRIPTED (error 5)");
	}
	rtc_setup("nvrtcCompileProgram:6", 12040, "60 90");
	fails(&conf, LS_EUNKNOWN, "does not compile with NVRTC 12.4",
	      "k.cu(7): error: a scripted mistake");
	rtc_setup(NULL, 12040, "");
	fails(&conf, LS_EUNKNOWN, "claims to know 0 architectures", "");
	setup(NULL, "cc=120");
	rtc_setup("nvrtcGetPTX:5", 12040, "60 90");
	fails(&conf, LS_EUNKNOWN, "fetching the code", "");
}

static void descriptions_say_which(void **state)
{
	(void)state;
	const struct {
		struct ls_kernels_conf conf;
		bool there;
		const char *text, *source;
	} cases[] = {{{.nvrtc = some_nvrtc}, true, embedded, "this program"},
		     {{.nvrtc = some_nvrtc, .from_source = true},
		      true,
		      "NVRTC 12.4 at run time",
		      LIBNVRTC},
		     {{.nvrtc = no_nvrtc, .from_source = true},
		      false,
		      "no PTX is embedded, and no usable NVRTC",
		      "this program"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ls_str out = {0}, source = {0};
		assert_true(ls_kernels_describe(&cases[i].conf, &out, &source) == cases[i].there);
		assert_true(ls_str_starts(out.s, cases[i].text));
		assert_string_equal(source.s, cases[i].source);
		ls_str_done(&out);
		ls_str_done(&source);
	}
}

static void wheels_are_found(void **state)
{
	(void)state;
	char command[512];
	const char *const prefixes[] = {dir, NULL};
	snprintf(command, sizeof command,
		 "mkdir -p %s/lib/python3.11/site-packages/nvidia/cu13/lib "
		 "%s/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib "
		 "&& touch %s/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13 "
		 "%s/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
		 dir, dir, dir, dir);
	assert_int_equal(system(command), 0);
	char **places = ls_nvrtc_places("", prefixes);
	int found = 0;
	assert_string_equal(places[0], "libnvrtc.so.13");
	for (char **p = places; *p; p++)
		found += ls_str_starts(*p, dir) &&
			 (ls_str_ends(*p, "cu13/lib/libnvrtc.so.13") ||
			  ls_str_ends(*p, "cuda_nvrtc/lib/libnvrtc.so.12"));
	assert_int_equal(found, 2);
	ls_nvrtc_places_free(places);
	ls_nvrtc_places_free(NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh_folder, drop_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(embedded_ptx_is_loaded_and_cached),
		TEST(another_driver_or_gpu_is_another_entry),
		TEST(without_a_cache_nothing_is_written),
		TEST(sources_are_compiled_for_this_gpu),
		TEST(a_set_of_kernels_is_an_entry),
		TEST(the_driver_is_given_what_is_wanted),
		TEST(ptx_that_is_not_understood_stays_whole),
		TEST(sets_of_sources_are_kept_apart),
		TEST(kernels_that_are_not_there_are_internal),
		TEST(a_gpu_newer_than_nvrtc_gets_ptx),
		TEST(a_spoilt_entry_is_made_again),
		TEST(a_pipe_in_an_entrys_place_is_no_entry),
		TEST(an_entry_the_driver_refuses_is_made_again),
		TEST(a_cache_that_cannot_be_written_is_no_error),
		TEST(entries_come_back_as_they_went),
		TEST(refused_ptx_goes_to_nvrtc),
		TEST(a_driver_too_old_without_nvrtc_says_so),
		TEST(other_failures_do_not_go_to_nvrtc),
		TEST(unknown_modules_are_internal),
		TEST(nvrtc_failures_have_a_place),
		TEST(descriptions_say_which),
		TEST(wheels_are_found),
	};
	if (!ls_kernels_embedded()) {
		fprintf(stderr,
			"this build embeds no PTX (no nvcc), and most of these tests need it\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, load_stand_ins, NULL);
}
