/* The driver layer over the stand-in libcuda: what it does when all is well, and what it
 * says and leaves behind when the N-th call of any function fails with any code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>

#include "../fake/fake_cuda.h"
#include "base/err.h"
#include "gpu/cuda_err.h"
#include "gpu/driver.h"

#define LIBRARY LS_BINARY_DIR "/fake/libcuda.so.1"

static fake_cuda_setup_fn *setup;
static fake_cuda_live_fn *live;
static fake_cuda_calls_fn *calls;

static const char ptx[] = "\n.version 7.0\n.target sm_75\n.address_size 64\n"
			  ".visible .entry add_one(\n\t.param .u64 add_one_param_0,\n\t.param .u32 "
			  "add_one_param_1\n)\n{ret;}\n"
			  ".visible .entry absent(.param .align 8 .b8 absent_param_0[24]) {ret;}\n";

/* what the stand-in runs for the kernel add_one(uint32_t *p, uint32_t n) */
fake_kernel_fn fake_kernel_add_one;
void fake_kernel_add_one(const struct fake_launch *launch, void **args)
{
	uint32_t *p = *(uint32_t **)args[0], n = *(uint32_t *)args[1];
	uint32_t threads = launch->grid[0] * launch->block[0];
	for (uint32_t i = 0; i < n && i < threads; i++)
		p[i]++;
}

static void nothing_left(void)
{
	char list[2048] = "";
	int n = live(list, sizeof list);
	if (n)
		fail_msg("left behind: %s", list);
}

static int load(void **state)
{
	(void)state;
	void *lib = dlopen(LIBRARY, RTLD_NOW);
	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	*(void **)&setup = dlsym(lib, "fake_cuda_setup");
	*(void **)&live = dlsym(lib, "fake_cuda_live");
	*(void **)&calls = dlsym(lib, "fake_cuda_calls");
	return setup && live && calls ? 0 : -1;
}

/* --- all is well --- */

static void info_is_the_devices(void **state)
{
	(void)state;
	setup(NULL, "devices=2 cc=75 cuda=12040 mem=1000000");
	struct ls_gpu *gpu;
	struct ls_err err;
	assert_int_equal(ls_gpu_open(LIBRARY, 1, &gpu, &err), 0);
	const struct ls_gpu_info *info = ls_gpu_info(gpu);
	assert_string_equal(info->name, "Stand-in GPU 1");
	assert_string_equal(info->pci, "0000:11:00.0");
	assert_int_equal(info->index, 1);
	assert_int_equal(info->cc, 75);
	assert_int_equal(info->driver_cuda, 12040);
	assert_int_equal(info->memory, 1000000);
	assert_int_equal(info->multiprocessors, 3);
	assert_true(info->cooperative);
	ls_gpu_close(gpu);
	int devices, version;
	assert_int_equal(ls_gpu_count(LIBRARY, &devices, &version, &err), 0);
	assert_int_equal(devices, 2);
	assert_int_equal(version, 12040);
	nothing_left();
}

struct work {
	struct ls_gpu *gpu;
	ls_cu_ptr p, q;
	ls_cu_stream a, b;
	ls_cu_event e0, e1;
	ls_cu_module m;
	ls_cu_graph_exec graph;
	uint32_t *host, more[7];
	bool registered, capturing;
};

static void work_done(struct work *w)
{
	if (!w->gpu)
		return;
	if (w->capturing)
		ls_gpu_capture_drop(w->gpu, w->a);
	ls_gpu_graph_free(w->gpu, w->graph);
	ls_gpu_module_free(w->gpu, w->m);
	ls_gpu_event_free(w->gpu, w->e0);
	ls_gpu_event_free(w->gpu, w->e1);
	ls_gpu_stream_free(w->gpu, w->a);
	ls_gpu_stream_free(w->gpu, w->b);
	ls_gpu_free(w->gpu, w->p);
	ls_gpu_free(w->gpu, w->q);
	ls_gpu_host_free(w->gpu, w->host);
	if (w->registered)
		ls_gpu_host_unregister(w->gpu, w->more);
	ls_gpu_close(w->gpu);
}

#define TRY(call)                                                                                  \
	do {                                                                                       \
		int rc_ = (call);                                                                  \
		if (rc_)                                                                           \
			return rc_;                                                                \
	} while (0)

enum { N = 7, BYTES = N * sizeof(uint32_t) };

static int make(struct work *w, struct ls_err *err)
{
	uint64_t avail, total;
	TRY(ls_gpu_open(LIBRARY, 0, &w->gpu, err));
	TRY(ls_gpu_mem_info(w->gpu, &avail, &total, err));
	TRY(ls_gpu_alloc(w->gpu, BYTES, "numbers", &w->p, err));
	TRY(ls_gpu_alloc(w->gpu, BYTES, "a copy", &w->q, err));
	TRY(ls_gpu_host_alloc(w->gpu, BYTES, "results", (void **)&w->host, err));
	TRY(ls_gpu_host_register(w->gpu, w->more, sizeof w->more, err));
	w->registered = true;
	TRY(ls_gpu_stream_new(w->gpu, &w->a, err));
	TRY(ls_gpu_stream_new(w->gpu, &w->b, err));
	TRY(ls_gpu_event_new(w->gpu, true, &w->e0, err));
	return ls_gpu_event_new(w->gpu, true, &w->e1, err);
}

static int code(struct work *w, struct ls_gpu_kernel *k, struct ls_err *err)
{
	void *cubin;
	size_t len;
	unsigned cu;
	int blocks;
	TRY(ls_gpu_assemble(w->gpu, "test", ptx, sizeof ptx - 1, &cubin, &len, &cu, err));
	int rc = ls_gpu_module_load(w->gpu, "test", cubin, &w->m, &cu, err);
	free(cubin);
	if (rc)
		return rc;
	TRY(ls_gpu_kernel(w->gpu, w->m, "add_one", k, err));
	TRY(ls_gpu_kernel_shared(w->gpu, k, 64 << 10, err));
	return ls_gpu_kernel_blocks(w->gpu, k, 256, 0, &blocks, err);
}

static int capture(struct work *w, const struct ls_gpu_kernel *k, struct ls_err *err)
{
	uint32_t n = N;
	void *args[] = {&w->q, &n};
	TRY(ls_gpu_capture_begin(w->gpu, w->a, err));
	w->capturing = true;
	TRY(ls_gpu_launch(w->gpu, w->a, k, &(struct ls_gpu_shape){.grid = {2}, .block = {4}}, args,
			  err));
	TRY(ls_gpu_launch(w->gpu, w->a, k,
			  &(struct ls_gpu_shape){.grid = {1}, .block = {8}, .cooperative = true},
			  args, err));
	w->capturing = false;
	return ls_gpu_capture_end(w->gpu, w->a, &w->graph, err);
}

/* p = 10 11 …, q = p in stream b, then 2 * 3 increments in stream a by a graph of two
 * launches */
static int work(struct work *w, struct ls_err *err)
{
	struct ls_gpu_kernel k;
	uint32_t n = N;
	double ms;
	bool done = false;
	TRY(make(w, err));
	TRY(code(w, &k, err));
	TRY(capture(w, &k, err));
	for (uint32_t i = 0; i < N; i++)
		w->more[i] = 10 + i;
	TRY(ls_gpu_event_record(w->gpu, w->b, w->e0, err));
	TRY(ls_gpu_upload(w->gpu, w->b, w->p, w->more, BYTES, err));
	TRY(ls_gpu_fill(w->gpu, w->b, w->q, 0, BYTES, err));
	TRY(ls_gpu_copy(w->gpu, w->b, w->q, w->p, BYTES, err));
	TRY(ls_gpu_event_record(w->gpu, w->b, w->e1, err));
	TRY(ls_gpu_event_wait(w->gpu, w->a, w->e1, err));
	for (int i = 0; i < 3; i++)
		TRY(ls_gpu_graph_launch(w->gpu, w->a, w->graph, err));
	void *args[] = {&w->q, &n};
	TRY(ls_gpu_launch(w->gpu, w->a, &k, &(struct ls_gpu_shape){.grid = {1}, .block = {N}}, args,
			  err));
	n = 0; /* parameters are taken at the call */
	TRY(ls_gpu_download(w->gpu, w->a, w->host, w->q, BYTES, err));
	TRY(ls_gpu_sync(w->gpu, w->a, err));
	TRY(ls_gpu_event_sync(w->gpu, w->e1, err));
	TRY(ls_gpu_event_done(w->gpu, w->e1, &done, err));
	return ls_gpu_event_ms(w->gpu, w->e0, w->e1, &ms, err);
}

static void results_are_right_and_nothing_is_left(void **state)
{
	(void)state;
	const char *const configs[] = {"lazy=1", "lazy=0"};
	for (int c = 0; c < 2; c++) {
		setup(NULL, configs[c]);
		struct work w = {0};
		struct ls_err err = {0};
		int rc = work(&w, &err);
		assert_string_equal(err.msg, "");
		assert_int_equal(rc, 0);
		for (uint32_t i = 0; i < N; i++)
			assert_int_equal(w.host[i], 10 + i + 2 * 3 + 1);
		work_done(&w);
		nothing_left();
	}
}

static void queries_say_not_ready_first(void **state)
{
	(void)state;
	setup(NULL, NULL);
	struct work w = {0};
	struct ls_err err;
	bool done = true;
	assert_int_equal(make(&w, &err), 0);
	assert_int_equal(ls_gpu_event_record(w.gpu, w.a, w.e0, &err), 0);
	assert_int_equal(ls_gpu_event_done(w.gpu, w.e0, &done, &err), 0);
	assert_false(done);
	assert_int_equal(ls_gpu_event_done(w.gpu, w.e0, &done, &err), 0);
	assert_true(done);
	work_done(&w);
	nothing_left();
}

static void empty_things_are_fine(void **state)
{
	(void)state;
	setup(NULL, NULL);
	struct ls_gpu *gpu;
	struct ls_err err;
	ls_cu_ptr p;
	assert_int_equal(ls_gpu_open(LIBRARY, 0, &gpu, &err), 0);
	assert_int_equal(ls_gpu_alloc(gpu, 0, "nothing", &p, &err), 0);
	assert_int_equal(ls_gpu_upload(gpu, NULL, p, NULL, 0, &err), 0);
	ls_gpu_free(gpu, p);
	ls_gpu_free(gpu, 0);
	ls_gpu_host_free(gpu, NULL);
	ls_gpu_stream_free(gpu, NULL);
	ls_gpu_event_free(gpu, NULL);
	ls_gpu_module_free(gpu, NULL);
	ls_gpu_graph_free(gpu, NULL);
	ls_gpu_close(gpu);
	ls_gpu_close(NULL);
	nothing_left();
}

/* --- failures --- */

#define NAME(member, symbol, args) #symbol,
static const char *const functions[] = {LS_CUDA_FUNCTIONS(NAME)};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

/* A failure of these is not a failure of the work: what is freed is freed as well as can
 * be. */
static bool is_clean_up(const char *f)
{
	static const char *const names[] = {"cuMemFree_v2",        "cuMemFreeHost",
					    "cuMemHostUnregister", "cuStreamDestroy_v2",
					    "cuEventDestroy_v2",   "cuModuleUnload",
					    "cuGraphDestroy",      "cuGraphExecDestroy",
					    "cuLinkDestroy",       "cuDevicePrimaryCtxRelease_v2",
					    "cuDeviceGetPCIBusId"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], f) == 0)
			return true;
	return strcmp(f, "cuGetErrorName") == 0 || strcmp(f, "cuGetErrorString") == 0;
}

static void one_fault(const char *function, unsigned nth, unsigned cu)
{
	char script[128], list[2048];
	snprintf(script, sizeof script, "%s:%u:%u", function, nth, cu);
	setup(script, NULL);
	struct work w = {0};
	struct ls_err err = {0};
	int rc = work(&w, &err);
	if (is_clean_up(function)) {
		work_done(&w);
		nothing_left();
		return;
	}
	if (rc == 0)
		fail_msg("%s: the work did not notice", script);
	assert_int_equal(rc, err.code);
	char number[32];
	snprintf(number, sizeof number, "error %u)", cu);
	if (!strstr(err.msg, number) && !strstr(err.msg, "memory to lock") &&
	    !strstr(err.msg, "host memory"))
		fail_msg("%s: the message does not say so: %s", script, err.msg);
	if (w.gpu)
		assert_int_equal(ls_gpu_is_lost(w.gpu), ls_cuda_err_is_lost(cu));
	work_done(&w);
	if (live(list, sizeof list))
		fail_msg("%s: left behind: %s", script, list);
}

static void any_call_may_fail(void **state)
{
	(void)state;
	static const unsigned codes[] = {2, 222, 700, 12345};
	unsigned n_calls[N_FUNCTIONS], reached = 0;
	setup(NULL, NULL);
	struct work w = {0};
	struct ls_err err;
	assert_int_equal(work(&w, &err), 0);
	for (int f = 0; f < N_FUNCTIONS; f++)
		n_calls[f] = calls(functions[f]);
	work_done(&w);
	for (int f = 0; f < N_FUNCTIONS; f++)
		for (unsigned nth = 1; nth <= n_calls[f] && nth <= 3; nth++, reached++)
			for (size_t c = 0; c < sizeof codes / sizeof *codes; c++)
				one_fault(functions[f], nth, codes[c]);
	assert_true(reached > 50);
}

/* Opens a device under the script and gives the message back. */
static int open_with(const char *script, const char *config, struct ls_err *err)
{
	setup(script, config);
	struct ls_gpu *gpu = NULL;
	int rc = ls_gpu_open(LIBRARY, 0, &gpu, err);
	if (rc)
		assert_null(gpu); /* outputs are untouched on failure */
	ls_gpu_close(gpu);
	nothing_left();
	return rc;
}

static void no_driver_is_unknown(void **state)
{
	(void)state;
	struct ls_gpu *gpu;
	struct ls_err err;
	int devices, version;
	assert_int_equal(ls_gpu_open("/no/such/libcuda.so.1", 0, &gpu, &err), LS_EUNKNOWN);
	assert_non_null(strstr(err.msg, "no usable NVIDIA driver"));
	assert_non_null(strstr(err.msg, "/no/such/libcuda.so.1"));
	assert_int_equal(ls_gpu_count("/no/such/libcuda.so.1", &devices, &version, &err),
			 LS_EUNKNOWN);
}

static void start_up_failures_say_what_to_do(void **state)
{
	(void)state;
	static const struct {
		const char *script, *config, *words;
		int code;
	} cases[] = {
		{NULL, "devices=0", "CUDA_VISIBLE_DEVICES", LS_EUNKNOWN},
		{"cuInit:1:34", NULL, "stub", LS_EUNKNOWN},
		{"cuInit:1:100", NULL, "no NVIDIA GPU is visible", LS_EUNKNOWN},
		{"cuInit:1:803", NULL, "reboot", LS_EUNKNOWN},
		{"cuInit:1:804", NULL, "LD_LIBRARY_PATH", LS_EUNKNOWN},
		{"cuInit:1:35", NULL, "update the NVIDIA driver", LS_EUNKNOWN},
		{"cuInit:1:802", NULL, "nvidia-fabricmanager", LS_EUNKNOWN},
		{"cuDevicePrimaryCtxRetain:1:2", NULL, "too little free memory", LS_ENOMEM},
		{"cuInit:1:999", NULL, "nvidia-uvm", LS_EUNKNOWN},
		{"cuDevicePrimaryCtxRetain:1:46", NULL, "compute mode", LS_EUNKNOWN},
		{"cuDevicePrimaryCtxRetain:1:12345", NULL, "unknown to this driver", LS_EINTERNAL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ls_err err = {0};
		assert_int_equal(open_with(cases[i].script, cases[i].config, &err), cases[i].code);
		if (!strstr(err.msg, cases[i].words))
			fail_msg("\"%s\" is not in: %s", cases[i].words, err.msg);
	}
	setup(NULL, "devices=0");
	int devices = 7, version = 7;
	struct ls_err err;
	assert_int_equal(ls_gpu_count(LIBRARY, &devices, &version, &err), LS_EUNKNOWN);
	assert_int_equal(devices, 7);
}

/* The context that is current is somebody else's: it is used and left alone. */
static void a_context_is_adopted(void **state)
{
	(void)state;
	setup(NULL, "devices=2");
	struct ls_gpu *owner, *guest;
	struct ls_err err;
	assert_int_equal(ls_gpu_open(LIBRARY, 1, &owner, &err), 0);
	assert_int_equal(ls_gpu_adopt(&guest, &err), 0);
	assert_int_equal(ls_gpu_info(guest)->index, 1);
	assert_ptr_equal(ls_gpu_context(guest), ls_gpu_context(owner));
	assert_ptr_equal(ls_gpu_current(guest), ls_gpu_context(owner));
	ls_gpu_close(guest);
	ls_cu_ptr p;
	assert_int_equal(ls_gpu_alloc(owner, 64, "a block", &p, &err), 0);
	ls_gpu_free(owner, p);
	ls_gpu_close(owner);
	assert_int_equal(ls_gpu_adopt(&guest, &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "has no CUDA context"));
	nothing_left();
}

static void device_numbers_are_checked(void **state)
{
	(void)state;
	setup(NULL, "devices=2");
	struct ls_gpu *gpu = NULL;
	struct ls_err err;
	assert_int_equal(ls_gpu_open(LIBRARY, 2, &gpu, &err), LS_EINPUT);
	assert_string_equal(
		err.msg,
		"there is no device cuda:2: the GPUs visible here are numbered 0 to 1; see "
		"nvidia-smi -L and CUDA_VISIBLE_DEVICES");
	assert_int_equal(ls_gpu_open(LIBRARY, -1, &gpu, &err), LS_EINPUT);
	nothing_left();
	double rate = 0;
	assert_int_equal(ls_gpu_bandwidth(LIBRARY, 1, &rate, &err), 0);
	assert_true(rate == 320064e6);
	assert_int_equal(ls_gpu_bandwidth(LIBRARY, 2, &rate, &err), LS_EINPUT);
	nothing_left();
}

static void out_of_memory_says_how_much_there_is(void **state)
{
	(void)state;
	setup(NULL, "mem=1048576");
	struct ls_gpu *gpu;
	struct ls_err err;
	ls_cu_ptr p = 1, q;
	assert_int_equal(ls_gpu_open(LIBRARY, 0, &gpu, &err), 0);
	assert_int_equal(ls_gpu_alloc(gpu, 1 << 19, "rows", &q, &err), 0);
	assert_int_equal(ls_gpu_alloc(gpu, 1 << 20, "parameters", &p, &err), LS_ENOMEM);
	assert_int_equal(p, 1);
	assert_non_null(strstr(err.msg,
			       "allocating 1.0 MiB for parameters with 512.0 KiB of 1.0 MiB free"));
	assert_non_null(strstr(err.msg, "--batch"));
	assert_false(ls_gpu_is_lost(gpu)); /* and what is there goes on */
	ls_gpu_free(gpu, q);
	ls_gpu_close(gpu);
	nothing_left();
}

static void a_lost_device_stays_lost(void **state)
{
	(void)state;
	setup("sync:2:719", NULL);
	struct work w = {0};
	struct ls_err err;
	assert_int_equal(make(&w, &err), 0);
	assert_int_equal(ls_gpu_fill(w.gpu, w.a, w.p, 1, 1, &err), 0);
	assert_int_equal(ls_gpu_sync(w.gpu, w.a, &err), 0);
	assert_int_equal(ls_gpu_fill(w.gpu, w.a, w.p, 1, 1, &err),
			 0); /* fails later, as on a GPU */
	assert_int_equal(ls_gpu_sync(w.gpu, w.a, &err), LS_EIO);
	assert_non_null(strstr(err.msg, "cuda:0 (Stand-in GPU 0, 0000:10:00.0)"));
	assert_non_null(strstr(err.msg, "checkpoint"));
	assert_true(ls_gpu_is_lost(w.gpu));
	unsigned before = calls("cuMemsetD8Async");
	assert_int_equal(ls_gpu_fill(w.gpu, w.a, w.p, 1, 1, &err), LS_EIO);
	assert_non_null(strstr(err.msg, "lost earlier"));
	assert_int_equal(calls("cuMemsetD8Async"), before); /* not even asked */
	work_done(&w);
	nothing_left();
}

static void code_that_does_not_fit_is_told_apart(void **state)
{
	(void)state;
	static const struct {
		const char *config, *ptx, *words;
		unsigned cu;
	} cases[] = {
		{"cuda=12040", "\n.version 9.0\n.target sm_75\n", "driver for CUDA 12.4", 222},
		{"cc=60", "\n.version 7.0\n.target sm_75\n", "compute capability 6.0", 218},
		{"cc=80", "FAKECUBIN sm_90\nx", "no code for this GPU's architecture", 209},
		{"cc=80", "garbage", "form of code", 200},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		setup(NULL, cases[i].config);
		struct ls_gpu *gpu;
		struct ls_err err;
		ls_cu_module m = NULL;
		unsigned cu = 0;
		assert_int_equal(ls_gpu_open(LIBRARY, 0, &gpu, &err), 0);
		assert_int_equal(ls_gpu_module_load(gpu, "fm", cases[i].ptx, &m, &cu, &err),
				 LS_EUNKNOWN);
		assert_int_equal(cu, cases[i].cu);
		assert_true(ls_cuda_err_is_image(cu));
		assert_null(m);
		if (!strstr(err.msg, cases[i].words) || !strstr(err.msg, "line 7: scripted words"))
			fail_msg("\"%s\" is not in: %s", cases[i].words, err.msg);
		assert_null(strstr(err.msg, "second line"));
		ls_gpu_close(gpu);
		nothing_left();
	}
}

static void wrong_calls_are_internal(void **state)
{
	(void)state;
	setup(NULL, NULL);
	struct work w = {0};
	struct ls_err err;
	struct ls_gpu_kernel k;
	assert_int_equal(make(&w, &err), 0);
	assert_int_equal(code(&w, &k, &err), 0);
	assert_int_equal(ls_gpu_kernel(w.gpu, w.m, "add_two", &k, &err), LS_EINTERNAL);
	assert_non_null(strstr(err.msg, "add_two"));
	void *args[] = {&w.p, &w.p};
	assert_int_equal(
		ls_gpu_launch(w.gpu, w.a, &k, &(struct ls_gpu_shape){.block = {2000}}, args, &err),
		LS_EINTERNAL);
	assert_non_null(
		strstr(err.msg, "launching add_one as 1 x 1 x 1 blocks of 2000 x 1 x 1 threads"));
	assert_int_equal(ls_gpu_launch(w.gpu, w.a, &k,
				       &(struct ls_gpu_shape){
					       .grid = {99}, .block = {1024}, .cooperative = true},
				       args, &err),
			 LS_EINTERNAL);
	assert_non_null(strstr(err.msg, "more blocks than the GPU holds"));
	assert_int_equal(ls_gpu_upload(w.gpu, w.a, w.p + 1, w.more, BYTES, &err), LS_EINTERNAL);
	assert_int_equal(ls_gpu_kernel(w.gpu, w.m, "absent", &k, &err), 0);
	work_done(&w);
	nothing_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(info_is_the_devices),
		cmocka_unit_test(results_are_right_and_nothing_is_left),
		cmocka_unit_test(queries_say_not_ready_first),
		cmocka_unit_test(empty_things_are_fine),
		cmocka_unit_test(any_call_may_fail),
		cmocka_unit_test(no_driver_is_unknown),
		cmocka_unit_test(start_up_failures_say_what_to_do),
		cmocka_unit_test(a_context_is_adopted),
		cmocka_unit_test(device_numbers_are_checked),
		cmocka_unit_test(out_of_memory_says_how_much_there_is),
		cmocka_unit_test(a_lost_device_stays_lost),
		cmocka_unit_test(code_that_does_not_fit_is_told_apart),
		cmocka_unit_test(wrong_calls_are_internal),
	};
	return cmocka_run_group_tests(tests, load, NULL);
}
