/* What include/lockstep.h promises of rows and factorization machines: the same bytes as
 * by files, arrays that are checked, trainings that stop. labels: threads */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lockstep.h"

static const char data_path[] = LS_SOURCE_DIR "/tests/data/small.svm";
static const char valid_path[] = LS_SOURCE_DIR "/tests/data/small-valid.ffm";

static struct ls_options *options(const char *command, ...)
{
	struct ls_options *o;
	struct ls_err err;
	va_list ap;
	assert_int_equal(ls_options_new(command, &o, &err), 0);
	va_start(ap, command);
	for (const char *name; (name = va_arg(ap, const char *));)
		if (ls_options_set(o, name, va_arg(ap, const char *), &err))
			fail_msg("%s", err.msg);
	va_end(ap);
	return o;
}

static struct ls_dataset *load(const char *path)
{
	struct ls_dataset *d;
	struct ls_err err;
	if (ls_dataset_load(path, NULL, &d, &err))
		fail_msg("%s", err.msg);
	return d;
}

static struct ls_model *train(const struct ls_training *t, struct ls_train_result *ret)
{
	struct ls_model *m;
	struct ls_err err;
	if (ls_model_train(t, &m, ret, &err))
		fail_msg("%s", err.msg);
	return m;
}

static char *read_file(const char *path, size_t *ret_n)
{
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	char *bytes = malloc(1 << 24);
	*ret_n = fread(bytes, 1, 1 << 24, f);
	fclose(f);
	return bytes;
}

static void assert_same_files(const char *a, const char *b)
{
	size_t n, m;
	char *x = read_file(a, &n), *y = read_file(b, &m);
	assert_int_equal(n, m);
	assert_true(n > 0);
	assert_memory_equal(x, y, n);
	free(x);
	free(y);
}

static void temporary(char *path, const char *what)
{
	snprintf(path, 64, "/tmp/ls_api.%d.%s", (int)getpid(), what);
	unlink(path);
}

/* --- options --- */

static void test_options(void **state)
{
	(void)state;
	struct ls_options *o;
	struct ls_err err;
	assert_int_equal(ls_options_new("fm trane", &o, &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "did you mean \"fm train\""));
	o = options("fm train", "epochs", "3", "kind", "ffm", "normalize", NULL, NULL);
	assert_int_equal(ls_options_check(o, &err), 0);
	assert_int_equal(ls_options_set(o, "epoch", "3", &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "did you mean --epochs"));
	assert_int_equal(ls_options_set(o, "kind", "svm", &err), LS_EINPUT);
	assert_int_equal(ls_options_set(o, "lr", NULL, &err), LS_EINPUT);
	assert_int_equal(ls_options_set(o, "normalize", "1", &err), LS_EINPUT);
	assert_int_equal(ls_options_set(o, "", NULL, &err), LS_EINPUT);
	assert_int_equal(ls_options_set(o, "", "x", NULL), LS_EINPUT);
	assert_int_equal(ls_options_set(o, "beta1", "0.5", &err), 0);
	assert_int_equal(ls_options_check(o, &err), LS_EINPUT);
	char *json;
	assert_int_equal(ls_options_describe(o, &json, &err), 0);
	assert_non_null(strstr(json, "\"kind\""));
	ls_free(json);
	ls_options_free(o);
	ls_options_free(NULL);
}

/* --- the same bytes, by files and in memory --- */

static void same_by_file_and_memory(const char *kind, bool valid)
{
	char by_file[64], by_memory[64];
	temporary(by_file, "file");
	temporary(by_memory, "memory");
	const char *path = strcmp(kind, "fm") ? LS_SOURCE_DIR "/tests/data/small.ffm" : data_path;
	struct ls_options *files = options("fm train", "kind", kind, "threads", "2", "epochs", "3",
					   "output", by_file, NULL),
			  *memory = options("fm train", "kind", kind, "epochs", "3", NULL);
	struct ls_dataset *rows = load(path), *v = valid ? load(valid_path) : NULL;
	struct ls_training t = {.options = files, .rows = rows, .valid = v};
	struct ls_train_result one, two;
	struct ls_model *a = train(&t, &one);
	t.options = memory;
	struct ls_model *b = train(&t, &two);
	char digest[65];
	struct ls_err err;
	assert_int_equal(ls_model_digest(b, digest, &err), 0);
	assert_string_equal(digest, one.digest);
	assert_int_equal(one.best_epoch, two.best_epoch);
	assert_int_equal(one.best_epoch > 0, valid);
	assert_string_equal(one.data_digest, two.data_digest);
	assert_int_equal(ls_model_save(b, by_memory, &err), 0);
	assert_same_files(by_file, by_memory);
	assert_int_equal(ls_model_save(a, by_memory, &err), 0);
	assert_same_files(by_file, by_memory);
	ls_model_free(a);
	ls_model_free(b);
	ls_dataset_free(rows);
	ls_dataset_free(v);
	ls_options_free(files);
	ls_options_free(memory);
	unlink(by_file);
	unlink(by_memory);
}

static void test_same(void **state)
{
	(void)state;
	same_by_file_and_memory("fm", false);
	same_by_file_and_memory("ffm", false);
	same_by_file_and_memory("fwfm", true);
}

/* From a model in memory, and from its file. */
static void test_warm_start(void **state)
{
	(void)state;
	char first[64], second[64], third[64];
	temporary(first, "1");
	temporary(second, "2");
	temporary(third, "3");
	struct ls_dataset *rows = load(data_path);
	struct ls_options *plain = options("fm train", "epochs", "1", NULL);
	struct ls_training t = {.options = plain, .rows = rows};
	struct ls_err err;
	struct ls_model *m = train(&t, NULL), *loaded;
	assert_int_equal(ls_model_save(m, first, &err), 0);
	assert_int_equal(ls_model_load(first, &loaded, &err), 0);
	struct ls_options *warm =
		options("fm train", "epochs", "1", "warm-start", first, "output", second, NULL);
	t.options = warm;
	struct ls_train_result r;
	ls_model_free(train(&t, &r));
	t.options = plain;
	t.start = loaded;
	struct ls_model *n = train(&t, NULL);
	assert_int_equal(ls_model_save(n, third, &err), 0);
	assert_same_files(second, third);
	assert_int_equal(ls_model_save_state(loaded, third, &err), LS_EINPUT);
	t.options = warm;
	assert_int_equal(ls_model_train(&t, NULL, NULL, &err), LS_EINPUT);
	ls_model_free(m);
	ls_model_free(loaded);
	ls_model_free(n);
	ls_dataset_free(rows);
	ls_options_free(plain);
	ls_options_free(warm);
	unlink(first);
	unlink(second);
	unlink(third);
}

/* With the optimizer's state two trainings of an epoch are one of two, if the rows keep
 * their order: in memory, by a file, and by --warm-start. Values of 100 and more make the
 * training one in other units. */
static void goes_on(const char *optimizer, const char *task, struct ls_dataset *rows)
{
	char path[64], digest[65], by_file[65], by_option[65];
	temporary(path, "state");
	struct ls_err err;
	struct ls_options *one = options("fm train", "epochs", "1", "shuffle", "none", "optimizer",
					 optimizer, "task", task, NULL),
			  *two = options("fm train", "epochs", "2", "shuffle", "none", "optimizer",
					 optimizer, "task", task, NULL);
	struct ls_training t = {.options = two, .rows = rows};
	struct ls_model *whole = train(&t, NULL), *half, *back, *end;
	t.options = one;
	half = train(&t, NULL);
	t.start = half;
	end = train(&t, NULL);
	assert_int_equal(ls_model_digest(whole, digest, &err), 0);
	assert_int_equal(ls_model_digest(end, by_file, &err), 0);
	assert_string_equal(digest, by_file);
	ls_model_free(end);
	assert_int_equal(ls_model_save_state(half, path, &err), 0);
	assert_int_equal(ls_model_load_state(path, &back, &err), 0);
	assert_int_equal(ls_model_digest(half, by_file, &err), 0);
	assert_int_equal(ls_model_digest(back, by_option, &err), 0);
	assert_string_equal(by_file, by_option);
	t.start = back;
	end = train(&t, NULL);
	assert_int_equal(ls_model_digest(end, by_file, &err), 0);
	assert_string_equal(digest, by_file);
	ls_model_free(end);
	t.start = NULL;
	assert_int_equal(ls_options_set(one, "warm-start", path, &err), 0);
	end = train(&t, NULL);
	assert_int_equal(ls_model_digest(end, by_option, &err), 0);
	assert_string_equal(digest, by_option);
	ls_model_free(end);
	ls_model_free(whole);
	ls_model_free(half);
	ls_model_free(back);
	ls_options_free(one);
	ls_options_free(two);
	unlink(path);
}

static void test_state(void **state)
{
	(void)state;
	enum { N = 60, EACH = 3 };
	int64_t indptr[N + 1];
	int32_t indices[N * EACH];
	float values[N * EACH], labels[N], binary[N];
	for (int r = 0; r <= N; r++)
		indptr[r] = r * EACH;
	for (int e = 0; e < N * EACH; e++) {
		indices[e] = e % EACH * 4 + e / EACH % 4;
		values[e] = (float)(1 + e * 7 % 11) * (e % EACH == 1 ? 100.0f : 0.01f);
	}
	for (int r = 0; r < N; r++) {
		labels[r] = (float)(1000 + 40 * (r % 7));
		binary[r] = (float)(r % 3 == 0);
	}
	struct ls_csr_arrays a = {.columns = 12,
				  .indptr = {indptr, N + 1, "int64"},
				  .indices = {indices, N * EACH, "int32"},
				  .values = {values, N * EACH, "float32"},
				  .labels = {labels, N, "float32"}};
	struct ls_err err;
	struct ls_dataset *regression, *classes;
	assert_int_equal(ls_dataset_from_csr(&a, &regression, &err), 0);
	a.labels.data = binary;
	assert_int_equal(ls_dataset_from_csr(&a, &classes, &err), 0);
	static const char *const optimizers[] = {"sgd", "adagrad", "adam", "ftrl"};
	for (int i = 0; i < 4; i++) {
		goes_on(optimizers[i], "regression", regression);
		goes_on(optimizers[i], "binary", classes);
	}
	ls_dataset_free(regression);
	ls_dataset_free(classes);
}

/* --- stopping --- */

struct watch {
	int events, epochs;
	int stop_after; /* epochs; 0: never */
};

static int watch(void *context, const struct ls_train_event *e)
{
	struct watch *w = context;
	w->events++;
	w->epochs += e->what == LS_TRAIN_EPOCH;
	assert_true(e->step <= e->total_steps);
	return w->stop_after && w->epochs >= w->stop_after;
}

static void test_stop(void **state)
{
	(void)state;
	struct ls_dataset *rows = load(data_path);
	struct ls_options *four = options("fm train", "epochs", "4", NULL),
			  *two = options("fm train", "epochs", "2", NULL);
	struct watch w = {.stop_after = 2};
	struct ls_training t = {.options = four, .rows = rows, .tell = watch, .context = &w};
	struct ls_model *stopped = NULL;
	struct ls_train_result r;
	struct ls_err err;
	char a[65], b[65];
	assert_int_equal(ls_model_train(&t, &stopped, &r, &err), LS_EINTR);
	assert_int_equal(w.epochs, 2);
	assert_int_equal(r.epochs, 2);
	w.stop_after = 0;
	t.options = two;
	struct ls_model *whole = train(&t, NULL);
	assert_int_equal(ls_model_digest(stopped, a, &err), 0);
	assert_int_equal(ls_model_digest(whole, b, &err), 0);
	assert_string_equal(a, b);
	ls_model_free(stopped);
	ls_model_free(whole);
	volatile int now = 1;
	t.stop = &now;
	assert_int_equal(ls_model_train(&t, &stopped, &r, &err), LS_EINTR);
	assert_int_equal(r.steps, 0);
	ls_model_free(stopped);
	ls_dataset_free(rows);
	ls_options_free(four);
	ls_options_free(two);
}

/* A checkpoint by one call, resumed by another. */
static void test_resume(void **state)
{
	(void)state;
	char model[64], checkpoint[64];
	temporary(model, "model");
	temporary(checkpoint, "checkpoint");
	struct ls_dataset *rows = load(data_path);
	struct ls_options *begin = options("fm train", "epochs", "4", "checkpoint", checkpoint,
					   NULL),
			  *resume = options("fm train", "epochs", "4", "checkpoint", checkpoint,
					    "resume", NULL, NULL),
			  *whole = options("fm train", "epochs", "4", NULL);
	struct watch w = {.stop_after = 1};
	struct ls_training t = {.options = begin, .rows = rows, .tell = watch, .context = &w};
	struct ls_train_result r;
	struct ls_err err;
	char a[65], b[65];
	assert_int_equal(ls_model_train(&t, NULL, &r, &err), LS_EINTR);
	w.stop_after = 0;
	t.options = resume;
	struct ls_model *m = train(&t, &r);
	assert_true(r.resumed);
	assert_int_equal(ls_model_digest(m, a, &err), 0);
	ls_model_free(m);
	t.options = whole;
	m = train(&t, &r);
	assert_int_equal(ls_model_digest(m, b, &err), 0);
	assert_string_equal(a, b);
	ls_model_free(m);
	t.options = begin;
	t.valid = rows;
	assert_int_equal(ls_model_train(&t, NULL, &r, &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "--output"));
	ls_dataset_free(rows);
	ls_options_free(begin);
	ls_options_free(resume);
	ls_options_free(whole);
	unlink(model);
	unlink(checkpoint);
}

/* Validation on rows that are set aside, and by folds. */
static void test_split(void **state)
{
	(void)state;
	struct ls_dataset *rows = load(data_path);
	struct ls_options *part = options("fm train", "valid-fraction", "0.25", "epochs", "3",
					  NULL),
			  *cv = options("fm train", "cv", "3", "epochs", "2", NULL);
	struct ls_training t = {.options = part, .rows = rows};
	struct ls_train_result r;
	struct ls_err err;
	ls_model_free(train(&t, &r));
	assert_true(r.best_epoch > 0);
	t.options = cv;
	ls_model_free(train(&t, &r));
	assert_int_equal(r.folds, 3);
	assert_true(r.fold_mean > 0 && r.fold_deviation > 0);
	t.valid = rows;
	assert_int_equal(ls_model_train(&t, NULL, NULL, &err), LS_EINPUT);
	ls_dataset_free(rows);
	ls_options_free(part);
	ls_options_free(cv);
}

/* --- many threads --- */

enum { THREADS = 4 };

/* Objects of its own, and rows that all threads read. */
struct worker {
	pthread_t thread;
	struct ls_dataset *rows;
	char digest[65];
	int rc;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct ls_options *o = NULL;
	struct ls_model *m = NULL;
	struct ls_err err;
	struct ls_metrics metrics;
	w->rc = ls_options_new("fm train", &o, &err);
	if (w->rc == 0)
		w->rc = ls_options_set(o, "threads", "2", &err);
	struct ls_training t = {.options = o, .rows = w->rows};
	if (w->rc == 0)
		w->rc = ls_model_train(&t, &m, NULL, &err);
	if (w->rc == 0)
		w->rc = ls_model_eval(m, w->rows, NULL, &metrics, &err);
	if (w->rc == 0)
		w->rc = ls_model_digest(m, w->digest, &err);
	ls_model_free(m);
	ls_options_free(o);
	return NULL;
}

static void test_threads(void **state)
{
	(void)state;
	struct ls_dataset *rows = load(data_path);
	struct worker w[THREADS] = {0};
	for (int i = 0; i < THREADS; i++) {
		w[i].rows = rows;
		assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(w[i].thread, NULL), 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(w[i].rc, 0);
		assert_string_equal(w[i].digest, w[0].digest);
	}
	ls_dataset_free(rows);
}

/* --- arrays --- */

static int64_t indptr[] = {0, 2, 3, 5};
static int32_t indices[] = {0, 2, 1, 0, 1};
static float values[] = {1, 2, 0.5f, 1, 1}, labels[] = {1, 0, 1}, weights[] = {1, 2, 1};
static int64_t fields[] = {0, 1, 1, 0, 1};

static struct ls_csr_arrays arrays(void)
{
	return (struct ls_csr_arrays){.columns = 3,
				      .indptr = {indptr, 4, "int64"},
				      .indices = {indices, 5, "int32"},
				      .values = {values, 5, "float32"},
				      .fields = {fields, 5, "int64"},
				      .labels = {labels, 3, "float32"},
				      .weights = {weights, 3, "float32"}};
}

static void refused(const struct ls_csr_arrays *a, const char *why)
{
	struct ls_dataset *d = NULL;
	struct ls_err err = {0};
	assert_int_equal(ls_dataset_from_csr(a, &d, &err), LS_EINPUT);
	if (!strstr(err.msg, why))
		fail_msg("\"%s\" does not say \"%s\"", err.msg, why);
	assert_null(d);
}

/* Whatever type the same numbers come in. */
static void test_array_types(void **state)
{
	(void)state;
	struct ls_csr_arrays a = arrays();
	struct ls_dataset *d, *e;
	struct ls_dataset_info i;
	struct ls_err err;
	char one[65], two[65];
	assert_int_equal(ls_dataset_from_csr(&a, &d, &err), 0);
	ls_dataset_describe(d, &i);
	assert_int_equal(i.rows, 3);
	assert_int_equal(i.entries, 5);
	assert_int_equal(i.features, 3);
	assert_int_equal(i.fields, 2);
	assert_true(i.has_labels && i.has_weights);
	static int32_t indptr32[] = {0, 2, 3, 5};
	static int64_t indices64[] = {0, 2, 1, 0, 1};
	static double values64[] = {1, 2, 0.5, 1, 1}, weights64[] = {1, 2, 1};
	static uint8_t labels8[] = {1, 0, 1}, fields8[] = {0, 1, 1, 0, 1};
	struct ls_csr_arrays b = {.columns = 3,
				  .indptr = {indptr32, 4, "int32"},
				  .indices = {indices64, 5, "int64"},
				  .values = {values64, 5, "float64"},
				  .fields = {fields8, 5, "uint8"},
				  .labels = {labels8, 3, "bool"},
				  .weights = {weights64, 3, "float64"}};
	assert_int_equal(ls_dataset_from_csr(&b, &e, &err), 0);
	assert_int_equal(ls_dataset_digest(d, one, &err), 0);
	assert_int_equal(ls_dataset_digest(e, two, &err), 0);
	assert_string_equal(one, two);
	ls_dataset_free(d);
	ls_dataset_free(e);
}

static void test_arrays_refused(void **state)
{
	(void)state;
	struct ls_csr_arrays a = arrays();
	a.columns = 2;
	refused(&a, "indices[1] is 2");
	a = arrays();
	a.indptr.data = NULL;
	refused(&a, "NULL");
	a = arrays();
	a.indptr.type = "float32";
	refused(&a, "indptr");
	a = arrays();
	a.values.type = "float33";
	refused(&a, "float33");
	a = arrays();
	a.labels.length = 2;
	refused(&a, "\"labels\" has 2 elements, not 3");
	a = arrays();
	a.values.length = 4;
	refused(&a, "\"values\"");
	a = arrays();
	a.indptr.length = 1;
	refused(&a, "no rows");
	static const int64_t falls[] = {0, 3, 2, 5}, beyond[] = {0, 2, 3, 6}, late[] = {1, 2, 3, 5};
	a = arrays();
	a.indptr.data = falls;
	refused(&a, "indptr[2] is 2");
	a.indptr.data = beyond;
	refused(&a, "indptr[3] is 6");
	a.indptr.data = late;
	refused(&a, "indptr[0] is 1");
	static const int32_t negative[] = {0, 2, -1, 0, 1};
	a = arrays();
	a.indices.data = negative;
	refused(&a, "indices[2] is -1");
	a.columns = UINT64_MAX;
	refused(&a, "indices[2] is -1");
	static const int64_t far[] = {0, 1, 65536, 0, 1};
	a = arrays();
	a.fields.data = far;
	refused(&a, "fields[2] is 65536");
	float odd[] = {1, 2, (float)(1e308 * 10), 1, 1}, minus[] = {1, -1, 1};
	a = arrays();
	a.values.data = odd;
	refused(&a, "values[2] is not a finite");
	odd[2] -= odd[2]; /* not a number */
	refused(&a, "values[2] is not a finite");
	a = arrays();
	a.weights.data = minus;
	refused(&a, "weights[1] is negative");
}

/* --- models --- */

static void test_predict(void **state)
{
	(void)state;
	struct ls_dataset *rows = load(data_path);
	struct ls_training t = {.rows = rows};
	struct ls_model *m = train(&t, NULL);
	struct ls_dataset_info i;
	ls_dataset_describe(rows, &i);
	float *p = malloc(i.rows * sizeof *p), *raw = malloc(i.rows * sizeof *raw);
	struct ls_options *o = options("fm predict", "raw", NULL, "threads", "3", NULL);
	struct ls_metrics metrics;
	struct ls_err err;
	assert_int_equal(ls_model_outputs(m), 1);
	assert_int_equal(ls_model_predict(m, rows, NULL, p, &err), 0);
	assert_int_equal(ls_model_predict(m, rows, o, raw, &err), 0);
	for (uint64_t r = 0; r < i.rows; r++)
		assert_true(p[r] > 0 && p[r] < 1 && (p[r] > 0.5f) == (raw[r] > 0));
	assert_int_equal(ls_model_eval(m, rows, NULL, &metrics, &err), 0);
	assert_true(metrics.has[LS_AUC] && metrics.value[LS_AUC] > 0);
	assert_false(metrics.has[LS_RMSE]);
	assert_int_equal(ls_model_eval(m, rows, o, &metrics, &err), LS_EINPUT);
	assert_string_equal(ls_metric_name(LS_AUC), "auc");
	struct ls_model_tensor tensor;
	assert_int_equal(ls_model_tensors(m), 3);
	assert_int_equal(ls_model_tensor_find(m, "factors", &tensor, &err), 0);
	assert_int_equal(tensor.dimensions, 2);
	assert_int_equal(tensor.shape[0], i.features);
	assert_int_equal(tensor.shape[1], 16);
	assert_int_equal(tensor.stride[1], 4);
	assert_int_equal(ls_model_tensor_at(m, 0, &tensor, &err), 0);
	assert_string_equal(tensor.name, "bias");
	assert_int_equal(ls_model_tensor_at(m, 3, &tensor, &err), LS_ENOENT);
	assert_int_equal(ls_model_tensor_find(m, "x", &tensor, &err), LS_ENOENT);
	char *json;
	assert_int_equal(ls_model_info(m, &json, &err), 0);
	assert_non_null(strstr(json, "\"kind\": \"fm\""));
	ls_free(json);
	free(p);
	free(raw);
	ls_options_free(o);
	ls_model_free(m);
	ls_dataset_free(rows);
}

/* Arrays without labels or fields are refused by what needs them. */
static void test_needs(void **state)
{
	(void)state;
	struct ls_csr_arrays a = arrays();
	a.labels = (struct ls_array){0};
	a.fields = (struct ls_array){0};
	struct ls_dataset *d;
	struct ls_model *m = NULL;
	struct ls_err err;
	assert_int_equal(ls_dataset_from_csr(&a, &d, &err), 0);
	struct ls_training t = {.rows = d};
	assert_int_equal(ls_model_train(&t, &m, NULL, &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "no label"));
	ls_dataset_free(d);
	a = arrays();
	a.fields = (struct ls_array){0};
	assert_int_equal(ls_dataset_from_csr(&a, &d, &err), 0);
	struct ls_options *ffm = options("fm train", "kind", "ffm", NULL);
	t = (struct ls_training){.options = ffm, .rows = d};
	assert_int_equal(ls_model_train(&t, &m, NULL, &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "no field"));
	assert_null(m);
	ls_options_free(ffm);
	ls_dataset_free(d);
}

/* The numbers are those of docs/FORMATS.md, "Features of a table". */
static void test_features(void **state)
{
	(void)state;
	const char text[] = "RomeNAParis, F";
	const uint64_t ends[] = {4, 6, 6, 14}, backwards[] = {4, 3};
	uint32_t got[4] = {0}, one;
	struct ls_err err;
	assert_int_equal(ls_features_hash("city", text, ends, 4, 1337, 18, got, &err), 0);
	assert_int_equal(got[0], 172999);
	assert_true(got[1] == LS_FEATURE_MISSING && got[2] == LS_FEATURE_MISSING);
	assert_int_equal(got[3], 4422);
	assert_int_equal(ls_features_hash("price", NULL, NULL, 1, 1337, 18, &one, &err), 0);
	assert_int_equal(one, 98620);
	assert_int_equal(ls_features_hash("city", text, ends, 1, 1337, 28, &one, &err), 0);
	assert_int_equal(one, 102671303);
	assert_int_equal(ls_features_hash("city", text, ends, 1, 0, 18, &one, &err), 0);
	assert_int_equal(one, 98018);
	assert_int_equal(ls_features_hash("", text, ends, 1, 0, 18, &one, &err), LS_EINPUT);
	assert_int_equal(ls_features_hash("c", text, ends, 1, 0, 29, &one, &err), LS_EINPUT);
	assert_int_equal(ls_features_hash("c", NULL, NULL, 2, 0, 18, got, &err), LS_EINPUT);
	assert_int_equal(ls_features_hash("c", text, backwards, 2, 0, 18, got, &err), LS_EINPUT);
	assert_int_equal(ls_features_hash("c", "a\0b", &(uint64_t){3}, 1, 0, 18, &one, &err),
			 LS_EINPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),     cmocka_unit_test(test_same),
		cmocka_unit_test(test_warm_start),  cmocka_unit_test(test_state),
		cmocka_unit_test(test_stop),        cmocka_unit_test(test_resume),
		cmocka_unit_test(test_split),       cmocka_unit_test(test_threads),
		cmocka_unit_test(test_array_types), cmocka_unit_test(test_arrays_refused),
		cmocka_unit_test(test_predict),     cmocka_unit_test(test_needs),
		cmocka_unit_test(test_features),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
