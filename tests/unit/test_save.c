/* Models and checkpoints in files: what comes back is what was written, whatever the
 * number of threads, and a model that comes back without states scores as the one with
 * them. Many rows of parameters, so that there are several blocks. labels: threads isa */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/huge_pages.h"
#include "base/mem.h"
#include "fm/cpu/cpu.h"
#include "fm/cuda/host/cuda.h"
#include "fm/model/engine.h"
#include "fm/model/save.h"
#include "fm/model/tensors.h"
#include "fm/train/train.h"
#include "models.h"

enum { FEATURES = 20000, FIELDS = 3, ROWS = 50 };

static char path[64];
static struct ls_pool *pool;

static struct ls_fm_opts options(enum ls_fm_kind kind, enum ls_fm_optimizer optimizer,
				 uint32_t factors)
{
	struct ls_fm_opts o = ls_fm_defaults(kind, LS_MULTICLASS, optimizer);
	o.factors = factors;
	o.classes = 2;
	return o;
}

/* Every parameter and state of it has a value of its own. */
static struct ls_fm_model *make_model(const struct ls_fm_opts *o)
{
	struct ls_fm_model *m;
	struct ls_err err = {0};
	assert_int_equal(ls_fm_model_new(o, FEATURES, FIELDS, &m, &err), 0);
	ls_fm_model_init(m, pool);
	float next = 1.0f;
	for (uint32_t s = 0; s <= m->states; s++) {
		struct ls_fm_group g[LS_FM_GROUPS];
		for (size_t i = 0, n = ls_fm_groups(m, s, g); i < n; i++)
			for (uint64_t r = 0; r < g[i].rows; r++)
				for (uint64_t run = 0; run < g[i].dims[0] * g[i].dims[1]; run++)
					for (uint64_t k = 0; k < g[i].dims[2]; k++)
						g[i].data[r * g[i].row_stride + run * g[i].inner +
							  k] = 1.0f / next++;
	}
	return m;
}

static void make_rows(struct ls_rows *rows, uint64_t *start, uint32_t *feature, uint16_t *field)
{
	for (uint32_t e = 0; e < ROWS * FIELDS; e++) {
		start[e / FIELDS + 1] = (e / FIELDS + 1) * FIELDS;
		field[e] = (uint16_t)(e % FIELDS);
		feature[e] = e * 7919 % FEATURES;
	}
	*rows = (struct ls_rows){.n_rows = ROWS,
				 .n_entries = ROWS * FIELDS,
				 .n_features = FEATURES,
				 .n_fields = FIELDS,
				 .start = start,
				 .feature = feature,
				 .field = field};
}

static void same_scores(const struct ls_fm_model *a, const struct ls_fm_model *b)
{
	uint64_t start[ROWS + 1] = {0};
	uint32_t feature[ROWS * FIELDS];
	uint16_t field[ROWS * FIELDS];
	float score_a[ROWS * 2], score_b[ROWS * 2];
	struct ls_rows rows;
	struct ls_err err = {0};
	make_rows(&rows, start, feature, field);
	assert_int_equal(ls_cpu_predict(a, &rows, pool, score_a, &err), 0);
	assert_int_equal(ls_cpu_predict(b, &rows, pool, score_b, &err), 0);
	assert_memory_equal(score_a, score_b, sizeof score_a);
}

static void there_and_back(const struct ls_fm_opts *o, int threads)
{
	struct ls_fm_model *m = make_model(o), *bare, *whole;
	struct ls_err err = {0};
	struct ls_fm_position at = {.step = 3, .epochs = 2}, back;
	char was[LS_SHA256_HEX], is[LS_SHA256_HEX];
	ls_fm_model_digest(m, was);
	assert_int_equal(
		ls_fm_save_model(path, m, &(struct ls_fm_position){0}, threads, NULL, &err), 0);
	assert_int_equal(ls_fm_load_model(path, threads, &bare, &err), 0);
	assert_int_equal(bare->states, 0);
	ls_fm_model_digest(bare, is);
	assert_string_equal(is, was);
	same_scores(m, bare);
	memset(at.data_digest, '0', sizeof at.data_digest - 1);
	assert_int_equal(ls_fm_save_checkpoint(path, m, &at, threads, &err), 0);
	assert_int_equal(ls_fm_load_checkpoint(path, threads, &whole, &back, &err), 0);
	assert_int_equal(back.step, 3);
	assert_same_model(m, whole);
	ls_fm_model_free(m);
	ls_fm_model_free(bare);
	ls_fm_model_free(whole);
}

static void every_kind_comes_back(void **state)
{
	(void)state;
	static const uint32_t factors[] = {3, 4, 8};
	for (int kind = LS_FM; kind <= LS_FWFM; kind++)
		for (int optimizer = LS_SGD; optimizer <= LS_FTRL; optimizer++) {
			int i = (kind + optimizer) % 3; /* each kind has all */
			struct ls_fm_opts o = options((enum ls_fm_kind)kind,
						      (enum ls_fm_optimizer)optimizer, factors[i]);
			there_and_back(&o, 1 + i);
		}
}

static int no_engine(void *context, struct ls_fm_model *m, const struct ls_rows *rows,
		     struct ls_pool *p, struct ls_engine *ret, struct ls_err *err)
{
	(void)context, (void)m, (void)rows, (void)p, (void)ret;
	return ls_err_set(err, LS_EINTERNAL, "resumed");
}

/* A checkpoint whose checksum is right, and whose epochs cannot be: 50 rows in steps of
 * 10 are 5 steps an epoch. */
static void positions_that_cannot_be(void **state)
{
	(void)state;
	static const struct {
		uint64_t step;
		uint32_t best, stale;
		bool valid, fine;
	} cases[] = {
		{0, 0, 0, false, true},  {7, 0, 0, false, true},          {7, 1, 0, false, false},
		{7, 0, 1, false, false}, {0, 0, 0, true, true},           {4, 0, 0, true, true},
		{5, 1, 0, true, true},   {14, 1, 1, true, true},          {4, 1, 0, true, false},
		{5, 0, 0, true, false},  {5, 0, 1, true, true},           {14, 2, 1, true, false},
		{14, 3, 0, true, false}, {5, UINT32_MAX, 2, true, false},
	};
	uint64_t start[ROWS + 1] = {0};
	uint32_t feature[ROWS * FIELDS];
	uint16_t field[ROWS * FIELDS];
	float label[ROWS] = {1};
	struct ls_rows rows;
	make_rows(&rows, start, feature, field);
	rows.label = label;
	struct ls_fm_opts o = ls_fm_defaults(LS_FM, LS_BINARY, LS_SGD);
	o.batch = 10;
	struct ls_fm_model *m = make_model(&o);
	char model[80];
	snprintf(model, sizeof model, "%s.model", path);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ls_fm_position at = {.step = cases[i].step,
					    .epochs = 9,
					    .best_epoch = cases[i].best,
					    .stale_epochs = cases[i].stale,
					    .data_digest = "0"};
		struct ls_train t = {.opts = o,
				     .rows = &rows,
				     .valid = cases[i].valid ? &rows : NULL,
				     .data_digest = "0",
				     .valid_digest = "",
				     .epochs = 9,
				     .output = model,
				     .checkpoint = path,
				     .resume = true,
				     .pool = pool,
				     .make_engine = no_engine};
		snprintf(at.metric, sizeof at.metric, "%s",
			 cases[i].valid ? ls_metric_name(LS_LOGLOSS) : "");
		struct ls_err err = {0};
		struct ls_train_result result;
		assert_int_equal(ls_fm_save_model(model, m, &at, 1, NULL, &err), 0);
		assert_int_equal(ls_fm_save_checkpoint(path, m, &at, 1, &err), 0);
		assert_int_equal(ls_fm_train(&t, &result, &err),
				 cases[i].fine ? LS_EINTERNAL : LS_EINPUT);
		assert_non_null(
			strstr(err.msg, cases[i].fine ? "resumed" : "its best epoch cannot be"));
	}
	unlink(model);
	ls_fm_model_free(m);
}

/* Of several numbers that are not finite the first feature's is named, whoever meets one
 * first. */
static void the_first_is_named(void **state)
{
	(void)state;
	struct ls_fm_opts o = options(LS_FFM, LS_ADAGRAD, 4);
	struct ls_fm_model *m = make_model(&o);
	struct ls_err err = {0};
	static const uint32_t bad[] = {19999, 15500, 10001, 10000, 17};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char want[64];
		m->record[bad[i] * ls_fm_stride(m) + ls_fm_lanes(m) - 1] = i % 2 ? NAN : -INFINITY;
		snprintf(want, sizeof want, "factors of feature %u is not", bad[i]);
		for (int threads = 1; threads <= 3; threads++) {
			assert_int_equal(ls_fm_save_model(path, m, &(struct ls_fm_position){0},
							  threads, NULL, &err),
					 LS_EDIFFER);
			assert_non_null(strstr(err.msg, want));
		}
	}
	ls_fm_model_free(m);
}

/* As a file from elsewhere may have it: the last number of the last tensor. */
static void loading_names(enum ls_fm_kind kind, const char *want)
{
	struct ls_fm_opts o = options(kind, LS_ADAGRAD, 4);
	struct ls_fm_model *m = make_model(&o);
	struct ls_err err = {0};
	assert_int_equal(ls_fm_save_model(path, m, &(struct ls_fm_position){0}, 2, NULL, &err), 0);
	FILE *f = fopen(path, "r+b");
	float bad = INFINITY;
	assert_non_null(f);
	assert_int_equal(fseek(f, -(long)sizeof bad, SEEK_END), 0);
	assert_int_equal(fwrite(&bad, sizeof bad, 1, f), 1);
	assert_int_equal(fclose(f), 0);
	for (int threads = 1; threads <= 3; threads++) {
		struct ls_fm_model *back = NULL;
		assert_int_equal(ls_fm_load_model(path, threads, &back, &err), LS_EINPUT);
		assert_null(back);
		assert_non_null(strstr(err.msg, want));
	}
	ls_fm_model_free(m);
}

static void loading_names_it_too(void **state)
{
	(void)state;
	loading_names(LS_FM, ": factors of feature 19999 is not");
	loading_names(LS_FWFM, ": field_weights is not"); /* which are no feature's */
}

/* Every part of it, to the bit. */
static void the_position_comes_back(void **state)
{
	(void)state;
	struct ls_fm_opts o = options(LS_FM, LS_ADAGRAD, 4);
	struct ls_fm_model *m = make_model(&o), *whole;
	struct ls_err err = {0};
	struct ls_fm_position at, back;
	memset(&at, 0, sizeof at);
	at.step = INT64_MAX;
	at.epochs = UINT32_MAX;
	at.best_epoch = 7;
	at.stale_epochs = 3;
	at.best_value = 0x1.123456789abcdp-3;
	at.loss_so_far = -0x1.fedcba9876543p+40;
	snprintf(at.metric, sizeof at.metric, "accuracy");
	memset(at.data_digest, '1', sizeof at.data_digest - 1);
	memset(at.valid_digest, '2', sizeof at.valid_digest - 1);
	memset(at.best_digest, '3', sizeof at.best_digest - 1);
	memset(at.warm_digest, '4', sizeof at.warm_digest - 1);
	assert_int_equal(ls_fm_save_checkpoint(path, m, &at, 2, &err), 0);
	assert_int_equal(ls_fm_load_checkpoint(path, 2, &whole, &back, &err), 0);
	assert_true(back.step == at.step && back.epochs == at.epochs &&
		    back.best_epoch == at.best_epoch && back.stale_epochs == at.stale_epochs);
	assert_memory_equal(&back.best_value, &at.best_value, sizeof at.best_value);
	assert_memory_equal(&back.loss_so_far, &at.loss_so_far, sizeof at.loss_so_far);
	assert_string_equal(back.metric, at.metric);
	assert_string_equal(back.data_digest, at.data_digest);
	assert_string_equal(back.valid_digest, at.valid_digest);
	assert_string_equal(back.best_digest, at.best_digest);
	assert_string_equal(back.warm_digest, at.warm_digest);
	ls_fm_model_free(m);
	ls_fm_model_free(whole);
}

static void bare_is_not_trained(void **state)
{
	(void)state;
	struct ls_fm_opts o = options(LS_FM, LS_ADAGRAD, 4);
	struct ls_fm_model *m;
	struct ls_err err = {0};
	struct ls_rows rows;
	struct ls_engine e = {0};
	uint64_t start[ROWS + 1] = {0};
	uint32_t feature[ROWS * FIELDS];
	uint16_t field[ROWS * FIELDS];
	float label[ROWS] = {0};
	make_rows(&rows, start, feature, field);
	rows.label = label;
	assert_int_equal(ls_fm_model_new_bare(&o, FEATURES, 0, &m, &err), 0);
	ls_fm_model_init(m, pool);
	assert_int_equal(ls_engine_cpu(m, &rows, pool, NULL, &e, &err), LS_EINTERNAL);
	assert_int_equal(ls_engine_cpu(m, NULL, pool, NULL, &e, &err), 0);
	e.free(e.state);
	assert_int_equal(ls_engine_cuda(m, &rows, pool, &(struct ls_cuda_conf){0}, &e, &err),
			 LS_EINTERNAL);
	ls_fm_model_free(m);
}

/* No more memory than there is now, and 4 MiB. False where that is no limit: some
 * emulators know none. */
static bool limit_memory(struct rlimit *ret_old)
{
	unsigned long pages[6] = {0};
	FILE *f = fopen("/proc/self/statm", "r");
	assert_non_null(f);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(fscanf(f, "%lu", &pages[i]), 1);
	fclose(f);
	getrlimit(RLIMIT_DATA, ret_old);
	struct rlimit low = {pages[5] * (rlim_t)sysconf(_SC_PAGESIZE) + (4 << 20),
			     ret_old->rlim_max};
	setrlimit(RLIMIT_DATA, &low);
	void *p = ls_huge_alloc(8 << 20);
	ls_huge_free(p, 8 << 20);
	return !p;
}

static void says_what_is_needed(int rc, const struct ls_err *err, const char *mib)
{
	char want[256];
	snprintf(want, sizeof want,
		 "%s: no memory for %s MiB of parameters, for features up to number 19999; it "
		 "takes a machine with "
		 "more, or a higher limit",
		 path, mib);
	assert_int_equal(rc, LS_ENOMEM);
	assert_string_equal(err->msg, want);
}

/* Who has a model is not told to train another. */
static void no_memory_for_a_file(void **state)
{
	(void)state;
	struct ls_fm_opts o = options(LS_FM, LS_ADAGRAD, 64);
	struct ls_fm_model *m = make_model(&o), *back;
	struct ls_fm_position at = {.step = 1};
	struct ls_err model = {0}, checkpoint = {0}, fresh = {0};
	struct rlimit old;
	assert_int_equal(ls_fm_save_model(path, m, &at, 1, NULL, &model), 0);
	bool limited = limit_memory(&old);
	int first = limited ? ls_fm_load_model(path, 1, &back, &model) : 0;
	setrlimit(RLIMIT_DATA, &old);
	assert_int_equal(ls_fm_save_checkpoint(path, m, &at, 1, &checkpoint), 0);
	limit_memory(&old);
	int second = limited ? ls_fm_load_checkpoint(path, 1, &back, &at, &checkpoint) : 0;
	int third = limited ? ls_fm_model_new(&o, FEATURES, 0, &back, &fresh) : 0;
	setrlimit(RLIMIT_DATA, &old);
	ls_fm_model_free(m);
	if (!limited)
		skip();
	says_what_is_needed(first, &model, "10");
	says_what_is_needed(second, &checkpoint, "19");
	assert_int_equal(third, LS_ENOMEM);
	assert_non_null(strstr(fresh.msg, "; fewer factors or fields would do"));
}

static int begin(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "/tmp/ls-test-save-%d", (int)getpid());
	return ls_pool_new(2, &pool, NULL);
}

static int end(void **state)
{
	(void)state;
	ls_pool_free(pool);
	remove(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_comes_back), cmocka_unit_test(positions_that_cannot_be),
		cmocka_unit_test(the_first_is_named),    cmocka_unit_test(loading_names_it_too),
		cmocka_unit_test(bare_is_not_trained),   cmocka_unit_test(the_position_comes_back),
		cmocka_unit_test(no_memory_for_a_file),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
