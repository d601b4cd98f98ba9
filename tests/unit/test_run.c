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

#include "base/json.h"
#include "run/cmdline.h"
#include "run/hook.h"
#include "run/ktrace.h"
#include "run/manifest.h"
#include "run/optrace.h"
#include "run/policy.h"

static void command_lines(void **state)
{
	(void)state;
	static const struct {
		const char *argv[8];
		bool python, brief, shut;
	} cases[] = {
		{{"python3", "x.py"}, true, false, false},
		{{"/usr/bin/python3.11", "-u", "x.py", "-I"}, true, false, false},
		{{"python", "-I", "x.py"}, true, false, true},
		{{"python", "-Bs", "-uE", "x.py"}, true, false, true},
		{{"python", "-W", "S", "x.py"}, true, false, false},
		{{"python", "-WE", "x.py"}, true, false, false},
		{{"python", "-X", "importtime", "-S", "x.py"}, true, false, true},
		{{"python", "-mI"}, true, false, false},
		{{"python", "-c", "pass", "-S"}, true, false, false},
		{{"python", "--version"}, true, true, false},
		{{"python", "-V"}, true, true, false},
		{{"python", "-"}, true, false, false},
		{{"env", "A=1", "python3", "-S"}, true, false, true},
		{{"env", "-u", "PYTHONPATH", "python3", "x"}, true, false, true},
		{{"nice", "-n", "5", "env", "-i", "python3", "x"}, true, false, true},
		{{"srun", "-n", "2", "python3", "-E", "x"}, true, false, true},
		{{"grep", "python", "-E", "x"}, false, false, false},
		{{"pythonic", "-I"}, false, false, false},
		{{"true"}, false, false, false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ls_cmdline c;
		ls_cmdline_read(cases[i].argv, &c);
		if (c.python != cases[i].python || c.brief != cases[i].brief ||
		    (c.shut != NULL) != cases[i].shut)
			fail_msg("case %zu (%s %s): python %d brief %d shut %s", i,
				 cases[i].argv[0], cases[i].argv[1] ? cases[i].argv[1] : "",
				 c.python, c.brief, c.shut ? c.shut : "-");
		ls_cmdline_done(&c);
	}
}

static struct ls_runenv policy_env(int level, const char *precision, char *const *start)
{
	struct ls_runenv env;
	struct ls_policy p = {.level = level, .seed = 4294967296u + 5, .precision = precision};
	ls_runenv_init(&env, start);
	ls_policy_apply(&p, &env);
	return env;
}

static void levels(void **state)
{
	(void)state;
	char *const start[] = {"A=1",
			       "CUBLAS_WORKSPACE_CONFIG=:16:8",
			       "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1",
			       "XLA_FLAGS=--foo",
			       "NVIDIA_TF32_OVERRIDE=1",
			       NULL};
	struct ls_runenv e = policy_env(0, "fp32", start);
	assert_int_equal(json_object_size(e.changes), 0);
	ls_runenv_done(&e);
	e = policy_env(1, "tf32", start);
	assert_null(ls_runenv_get(&e, "NVIDIA_TF32_OVERRIDE"));
	assert_null(ls_runenv_get(&e, "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE"));
	assert_null(ls_runenv_get(&e, "PYTHONHASHSEED"));
	ls_runenv_done(&e);
	e = policy_env(2, "fp32", start);
	assert_string_equal(ls_runenv_get(&e, "NVIDIA_TF32_OVERRIDE"), "0");
	assert_string_equal(ls_runenv_get(&e, "PYTHONHASHSEED"), "5");
	assert_string_equal(ls_runenv_get(&e, "CUBLAS_WORKSPACE_CONFIG"), ":16:8");
	assert_string_equal(ls_runenv_get(&e, "XLA_FLAGS"),
			    "--foo --xla_gpu_deterministic_ops=true");
	assert_null(ls_runenv_get(&e, "OMP_NUM_THREADS"));
	ls_runenv_done(&e);
	e = policy_env(3, "fp32", start);
	assert_string_equal(ls_runenv_get(&e, "OMP_NUM_THREADS"), "1");
	assert_string_equal(ls_runenv_get(&e, "CUDA_LAUNCH_BLOCKING"), "1");
	assert_string_equal(ls_runenv_get(&e, "MKL_CBWR"), "COMPATIBLE");
	assert_string_equal(ls_runenv_get(&e, "A"), "1");
	const json_t *before =
		json_object_get(json_object_get(e.changes, "NVIDIA_TF32_OVERRIDE"), "before");
	assert_string_equal(json_string_value(before), "1");
	ls_runenv_done(&e);
}

/* --- kernel logs --- */

struct bytes {
	uint8_t data[512];
	size_t len;
};

static void put(struct bytes *b, const void *data, size_t len)
{
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void put_name(struct bytes *b, const char *name)
{
	uint8_t head[] = {LS_KT_NAME, (uint8_t)strlen(name)};
	put(b, head, 2);
	put(b, name, strlen(name));
}

static uint64_t put_launch(struct bytes *b, uint64_t digest, const char *name, uint8_t id,
			   uint8_t grid)
{
	uint8_t record[] = {LS_KT_LAUNCH, id, grid, 1, 1, 32, 1, 1, 0, 0};
	put(b, record, sizeof record);
	digest = ls_ktrace_roll(digest, ls_ktrace_hash(name));
	for (int i = 2; i < 10; i++)
		digest = ls_ktrace_roll(digest, record[i]);
	return digest;
}

static void put_check(struct bytes *b, uint8_t n, uint64_t digest)
{
	uint8_t record[10] = {LS_KT_CHECK, n};
	for (int i = 0; i < 8; i++)
		record[2 + i] = (uint8_t)(digest >> (8 * i));
	put(b, record, sizeof record);
}

static struct bytes kernel_log(uint8_t grid)
{
	struct bytes b = {.len = 0};
	put(&b, LS_KTRACE_MAGIC, 8);
	put_name(&b, "sgemm");
	uint64_t digest = put_launch(&b, 0, "sgemm", 0, 4);
	put_name(&b, "reduce");
	digest = put_launch(&b, digest, "reduce", 1, grid);
	put_check(&b, 2, digest);
	return b;
}

static int read_all(const struct bytes *b, struct ls_ktrace *t, struct ls_err *err)
{
	struct ls_kernel k;
	int rc = ls_ktrace_begin(t, b->data, b->len, "log", err);
	while (rc == 0 && (rc = ls_ktrace_next(t, &k, err)) > 0)
		rc = 0;
	return rc;
}

static void kernel_logs(void **state)
{
	(void)state;
	struct ls_ktrace t;
	struct ls_err err;
	struct bytes b = kernel_log(9);
	assert_int_equal(read_all(&b, &t, &err), 0);
	assert_int_equal(t.launches, 2);
	assert_int_equal(t.n_names, 2);
	assert_true(t.complete);
	ls_ktrace_done(&t);
	/* a killed program's log: no check, zeros behind */
	struct bytes cut = b;
	cut.len -= 10;
	memset(cut.data + cut.len, 0, 64);
	cut.len += 64;
	assert_int_equal(read_all(&cut, &t, &err), 0);
	assert_int_equal(t.launches, 2);
	assert_false(t.complete);
	ls_ktrace_done(&t);
	/* any changed number breaks the digest */
	b.data[8 + 7 + 2] ^= 1;
	assert_int_equal(read_all(&b, &t, &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "damaged"));
	ls_ktrace_done(&t);
}

static char *write_file(const char *name, const void *data, size_t len)
{
	char *path = malloc(1024);
	snprintf(path, 1024, "%s/%s", LS_BINARY_DIR, name);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
	return path;
}

static void first_kernel_that_differs(void **state)
{
	(void)state;
	struct bytes a = kernel_log(9), b = kernel_log(8);
	char *pa = write_file("unit-a.kernels", a.data, a.len),
	     *pb = write_file("unit-b.kernels", b.data, b.len);
	struct ls_kernel_parting p;
	struct ls_err err;
	assert_int_equal(ls_ktrace_part(pa, pa, &p, &err), 0);
	assert_false(p.differs);
	assert_int_equal(ls_ktrace_part(pa, pb, &p, &err), 0);
	assert_true(p.differs);
	assert_int_equal(p.at, 1);
	assert_string_equal(p.a, "reduce grid 9x1x1 block 32x1x1 shared 0 stream 0");
	assert_string_equal(p.b, "reduce grid 8x1x1 block 32x1x1 shared 0 stream 0");
	ls_kernel_parting_done(&p);
	free(pa);
	free(pb);
}

/* --- operation logs --- */

#define HEAD                                                                                       \
	"H\tlockstep-ops\t3\t0\t12\t3.5\txxh3\t0\th\nS\t0\t/v/site-packages/x.py:3 "               \
	"g|/home/u/train.py:7 "                                                                    \
	"step|/home/u/train.py:20 "                                                                \
	"main\n"

static struct ls_parting part(const char *a, const char *b)
{
	char *pa = write_file("unit-a.ops", a, strlen(a)),
	     *pb = write_file("unit-b.ops", b, strlen(b));
	struct ls_parting p;
	struct ls_err err = {0};
	if (ls_optrace_part(pa, pb, &p, &err))
		fail_msg("%s", err.msg);
	free(pa);
	free(pb);
	return p;
}

static void operations_part(void **state)
{
	(void)state;
	const char *base = HEAD "O\t0\taten.add\t0\t f:aa f:bb\t f:cc\t9\nO\t1\taten.mul\t0\t "
				"f:cc\t f:dd\t9\nE\t2\tx\n";
	struct ls_parting p = part(base, base);
	assert_int_equal(p.kind, LS_PART_NONE);
	ls_parting_done(&p);
	p = part(base, HEAD
		 "O\t0\taten.add\t0\t f:aa f:bb\t f:c0\t9\nO\t1\taten.mul\t0\t f:c0\t f:d0\t9\n");
	assert_int_equal(p.kind, LS_PART_OPERATION);
	assert_int_equal(p.at, 0);
	assert_string_equal(p.where, "/home/u/train.py:7 step");
	assert_string_equal(p.a, "f:cc");
	assert_string_equal(p.b, "f:c0");
	ls_parting_done(&p);
	p = part(base, HEAD "O\t0\taten.add\t0\t f:aa f:b1\t f:cc\t9\n");
	assert_int_equal(p.kind, LS_PART_INPUT);
	assert_string_equal(p.b, "f:b1");
	ls_parting_done(&p);
	p = part(base, HEAD
		 "O\t0\taten.add\t0\t f:aa f:bb\t f:cc\t9\nO\t1\taten.div\t0\t f:cc\t f:dd\t9\n");
	assert_int_equal(p.kind, LS_PART_PATH);
	assert_int_equal(p.at, 1);
	ls_parting_done(&p);
	p = part(base, HEAD "O\t0\taten.add\t0\t f:aa f:bb\t f:cc\t9\n");
	assert_int_equal(p.kind, LS_PART_LENGTH);
	assert_string_equal(p.b, "the end");
	ls_parting_done(&p);
}

/* A trace folder with up to three logs. */
static char *folder(const char *name, const char *const *logs)
{
	char path[512];
	char *dir = malloc(512);
	snprintf(dir, 512, "%s/%s", LS_BINARY_DIR, name);
	mkdir(dir, 0777);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/h-%d-%d.ops", name, i, i);
		char *file =
			write_file(path, logs[i] ? logs[i] : "", logs[i] ? strlen(logs[i]) : 0);
		if (!logs[i])
			unlink(file);
		free(file);
	}
	return dir;
}

static struct ls_parting part_runs(const char *const *a, const char *const *b)
{
	char *da = folder("unit-a.trace", a), *db = folder("unit-b.trace", b);
	struct ls_parting p;
	struct ls_err err = {0};
	if (ls_optrace_part_folders(da, db, &p, &err))
		fail_msg("%s", err.msg);
	free(da);
	free(db);
	return p;
}

#define PROCESS(child)                                                                             \
	"H\tlockstep-ops\t3\t0\t12\t3.5\txxh3\t" child "\th\nS\t0\t/u/" child ".py:1 f\n"
#define ADD(digest, time) "O\t0\taten.add\t0\t f:aa\t f:" digest "\t" time "\n"

/* Processes are paired by their place, whatever their order of start; what parted first
 * is told, and it is said when the runs do not agree on that. */
static void processes_part(void **state)
{
	(void)state;
	const char *const a[] = {PROCESS("0.10") ADD("1", "20"), PROCESS("0.2") ADD("2", "30"),
				 NULL};
	const char *const swapped[] = {PROCESS("0.2") ADD("2", "30"),
				       PROCESS("0.10") ADD("1", "20"), NULL};
	struct ls_parting p = part_runs(a, swapped);
	assert_int_equal(p.kind, LS_PART_NONE);
	ls_parting_done(&p);
	const char *const other[] = {PROCESS("0.2") ADD("9", "80"), PROCESS("0.10") ADD("8", "70"),
				     NULL};
	p = part_runs(a, other);
	assert_string_equal(p.process, "0.10");
	assert_null(strstr(p.explanation, "cannot be told"));
	ls_parting_done(&p);
	const char *const late[] = {PROCESS("0.2") ADD("9", "60"), PROCESS("0.10") ADD("8", "70"),
				    NULL};
	p = part_runs(a, late);
	assert_int_equal(p.kind, LS_PART_OPERATION);
	assert_non_null(strstr(p.explanation, "cannot be told"));
	ls_parting_done(&p);
	const char *const more[] = {PROCESS("0.2") ADD("2", "30"), PROCESS("0.10") ADD("1", "20"),
				    PROCESS("0.3") ADD("1", "20")};
	p = part_runs(a, more);
	assert_int_equal(p.kind, LS_PART_PROCESS);
	assert_string_equal(p.process, "0.3");
	ls_parting_done(&p);
}

static void kinds_of_partings(void **state)
{
	(void)state;
	struct ls_parting p = part(HEAD "O\t0\tseed.random\t0\t =17\t\t9\n",
				   HEAD "O\t0\tseed.random\t0\t =18\t\t9\n");
	assert_int_equal(p.kind, LS_PART_SEED);
	ls_parting_done(&p);
	p = part(HEAD "O\t0\taten.add\t0\t f[4]@cpu:unwritten\t f:1\t9\n",
		 HEAD "O\t0\taten.add\t0\t f[4]@cpu:unwritten\t f:2\t9\n");
	assert_int_equal(p.kind, LS_PART_MEMORY);
	ls_parting_done(&p);
	p = part(HEAD "O\t0\taten.add\t0\t f[4]@cpu~shared:1\t f:1\t9\n",
		 HEAD "O\t0\taten.add\t0\t f[4]@cpu~shared:2\t f:2\t9\n");
	assert_int_equal(p.kind, LS_PART_SHARED);
	assert_non_null(strstr(p.explanation, "cannot be told"));
	ls_parting_done(&p);
}

static void logs_of_two_methods(void **state)
{
	(void)state;
	const char *a = HEAD, *b = "H\tlockstep-ops\t3\t0\t12\t3.5\tblake2b\t0\th\n";
	char *pa = write_file("unit-a.ops", a, strlen(a)),
	     *pb = write_file("unit-b.ops", b, strlen(b));
	struct ls_parting p;
	struct ls_err err = {0};
	assert_int_equal(ls_optrace_part(pa, pb, &p, &err), LS_EUNKNOWN);
	assert_non_null(strstr(err.msg, "digests are xxh3, those of the other run blake2b"));
	free(pa);
	free(pb);
}

static void broken_operation_logs(void **state)
{
	(void)state;
	const char *const bad[] = {HEAD "O\t1\taten.add\t0\t\t\t9\n",
				   HEAD "O\t0\taten.add\t1\t\t\t9\n", HEAD "S\t2\tx\n",
				   HEAD "E\t3\tx\n", HEAD "nonsense\n"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct ls_optrace t;
		struct ls_op op;
		struct ls_err err;
		assert_int_equal(ls_optrace_begin(&t, bad[i], strlen(bad[i]), "log", &err), 0);
		assert_int_equal(ls_optrace_next(&t, &op, &err), LS_EINPUT);
		assert_non_null(strstr(err.msg, "log:3: "));
		ls_optrace_done(&t);
	}
	struct ls_optrace t;
	assert_int_equal(ls_optrace_begin(&t, "H\tother\n", 8, "log", NULL), LS_EINPUT);
}

/* --- records and manifests --- */

static void records(void **state)
{
	(void)state;
	const char *text =
		"{\"event\":\"start\",\"pid\":7}\n{\"event\":\"module\",\"name\":\"torch\","
		"\"version\":\"2\"}\n"
		"{\"event\":\"undone\",\"setting\":\"s\",\"found\":true}\n{\"event\":\"ex";
	json_t *r;
	struct ls_err err;
	assert_int_equal(ls_hook_parse(text, strlen(text), "rec", &r, &err), 0);
	assert_int_equal(json_integer_value(json_object_get(r, "pid")), 7);
	assert_int_equal(json_array_size(json_object_get(r, "undone")), 1);
	assert_true(json_is_false(json_object_get(r, "exited")));
	json_decref(r);
	text = "{\"event\":\"start\"}\n{\"event\":\"unheard\"}\n";
	assert_int_equal(ls_hook_parse(text, strlen(text), "rec", &r, &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "rec:2"));
}

static json_t *manifest(const char *more)
{
	char text[2048];
	snprintf(text, sizeof text,
		 "{\"schema\":\"lockstep.run/"
		 "1\",\"lockstep\":\"0\",\"state\":\"finished\",\"command\":[\"x\"],\"cwd\":\"/\","
		 "\"host\":\"h\",\"out\":\"/o\",\"started\":\"t\",\"git\":{},\"inputs\":[],%s}",
		 more);
	json_t *m;
	struct ls_err err;
	if (ls_json_parse(text, strlen(text), "m", &m, &err) || ls_manifest_check(m, "m", &err))
		fail_msg("%s", err.msg);
	return m;
}

static void differences_are_ranked(void **state)
{
	(void)state;
	json_t *a = manifest("\"policy\":{\"seed\":1},\"modules\":{\"torch\":\"2.8\"},\"outputs\":["
			     "{\"path\":\"w\","
			     "\"sha256\":\"1\"}],"
			     "\"environment\":[{\"key\":\"cudnn\",\"value\":\"9.1\"},{\"key\":"
			     "\"ram\",\"value\":\"1\"}]");
	json_t *b = manifest("\"policy\":{\"seed\":2},\"modules\":{\"torch\":\"2.9\"},\"outputs\":["
			     "{\"path\":\"w\","
			     "\"sha256\":\"2\"}],"
			     "\"environment\":[{\"key\":\"cudnn\",\"value\":\"9.2\"},{\"key\":"
			     "\"ram\",\"value\":\"2\"}]");
	static const struct {
		const char *what;
		enum ls_weight weight;
	} want[] = {{"environment.cudnn", LS_BITS},
		    {"modules.torch", LS_BITS},
		    {"policy.seed", LS_BITS},
		    {"outputs.w", LS_RESULT},
		    {"environment.ram", LS_HARMLESS}};
	struct ls_differences d;
	ls_manifest_diff(a, b, &d);
	assert_int_equal(d.n, 5);
	for (size_t i = 0; i < d.n; i++) {
		assert_string_equal(d.items[i].what, want[i].what);
		assert_int_equal(d.items[i].weight, want[i].weight);
	}
	ls_differences_done(&d);
	ls_manifest_diff(a, a, &d);
	assert_int_equal(d.n, 0);
	ls_differences_done(&d);
	json_decref(a);
	json_decref(b);
}

/* Sources are told from where a run was started, so that two checkouts compare; what is
 * not known is told as such. */
static void causes_are_named(void **state)
{
	(void)state;
	json_t *a = manifest("\"policy\":{},\"sources\":{\"/a/x.py\":\"1\",\"/x.py\":\"1\"},"
			     "\"global_batch\":{\"accumulate\":null,\"global\":null},"
			     "\"training\":{\"optimizers\":[{\"class\":\"SGD\",\"where\":\"x:1\","
			     "\"defaults\":{\"lr\":0.1}}]}");
	json_t *b = manifest("\"policy\":{},\"sources\":{\"/a/x.py\":\"2\",\"/x.py\":\"1\"},"
			     "\"global_batch\":{\"accumulate\":2,\"global\":16},"
			     "\"training\":{\"optimizers\":[{\"class\":\"SGD\",\"where\":\"x:2\","
			     "\"defaults\":{\"lr\":0.2}}]}");
	json_object_set_new(a, "cwd", json_string("/a"));
	json_object_set_new(b, "cwd", json_string("/a"));
	static const char *const want[] = {"global_batch.accumulate", "global_batch.global",
					   "sources.x.py", "training.optimizers.0.defaults.lr"};
	struct ls_differences d;
	ls_manifest_diff(a, b, &d);
	assert_int_equal(d.n, 4);
	for (size_t i = 0; i < d.n; i++) {
		assert_string_equal(d.items[i].what, want[i]);
		assert_int_equal(d.items[i].weight, LS_BITS);
	}
	assert_string_equal(d.items[0].a, "unknown");
	ls_differences_done(&d);
	json_decref(a);
	json_decref(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_lines),
		cmocka_unit_test(levels),
		cmocka_unit_test(kernel_logs),
		cmocka_unit_test(first_kernel_that_differs),
		cmocka_unit_test(operations_part),
		cmocka_unit_test(processes_part),
		cmocka_unit_test(kinds_of_partings),
		cmocka_unit_test(logs_of_two_methods),
		cmocka_unit_test(broken_operation_logs),
		cmocka_unit_test(records),
		cmocka_unit_test(differences_are_ranked),
		cmocka_unit_test(causes_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
