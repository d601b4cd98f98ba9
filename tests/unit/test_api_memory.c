/* Without memory a public function returns LS_ENOMEM, or what it returns otherwise: every
 * allocation of a small training, and of all that goes with it, fails once. A host lives
 * on; it is never ended. labels: threads */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lockstep.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

static _Atomic long left = -1; /* allocations until the one that fails; below 0: none does */
static _Atomic long made;

#ifndef SANITIZED
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

static int fails(void)
{
	atomic_fetch_add(&made, 1);
	if (atomic_load(&left) < 0 || atomic_fetch_sub(&left, 1) != 0)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t n)
{
	return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return fails() ? NULL : __libc_realloc(p, n);
}

void *aligned_alloc(size_t align, size_t n)
{
	return fails() ? NULL : __libc_memalign(align, n);
}

int posix_memalign(void **ret, size_t align, size_t n)
{
	*ret = fails() ? NULL : __libc_memalign(align, n);
	return *ret ? 0 : ENOMEM;
}
#endif

/* --- what is done --- */

static char model_path[64];
static char want[65];

/* The first call that fails ends it. */
struct session {
	struct ls_options *options;
	struct ls_dataset *rows, *file;
	struct ls_model *model, *loaded;
	struct ls_comparison *comparison;
	char *text;
	char digest[65];
	struct ls_err err;
};

static void done(struct session *s)
{
	ls_free(s->text);
	ls_comparison_free(s->comparison);
	ls_model_free(s->model);
	ls_model_free(s->loaded);
	ls_dataset_free(s->rows);
	ls_dataset_free(s->file);
	ls_options_free(s->options);
}

static int64_t indptr[] = {0, 2, 3, 5, 6};
static int64_t indices[] = {0, 2, 1, 0, 1, 2};
static double values[] = {1, 2, 0.5, 1, 1, 3}, labels[] = {1, 0, 1, 0};

static int make_rows(struct session *s)
{
	struct ls_csr_arrays a = {.columns = 3,
				  .indptr = {indptr, 5, "int64"},
				  .indices = {indices, 6, "int64"},
				  .values = {values, 6, "float64"},
				  .labels = {labels, 4, "float64"}};
	int rc = ls_dataset_from_csr(&a, &s->rows, &s->err);
	if (rc == 0)
		rc = ls_dataset_load(LS_SOURCE_DIR "/tests/data/small-valid.ffm", NULL, &s->file,
				     &s->err);
	return rc;
}

static int train(struct session *s)
{
	int rc = ls_options_new("fm train", &s->options, &s->err);
	if (rc == 0)
		rc = ls_options_set(s->options, "threads", "2", &s->err);
	if (rc == 0)
		rc = ls_options_set(s->options, "device", "cpu", &s->err);
	if (rc == 0)
		rc = ls_options_set(s->options, "epochs", "2", &s->err);
	struct ls_training t = {.options = s->options, .rows = s->file, .valid = s->rows};
	if (rc == 0)
		rc = ls_model_train(&t, &s->model, NULL, &s->err);
	return rc ? rc : ls_model_digest(s->model, s->digest, &s->err);
}

static int use_model(struct session *s)
{
	float p[4];
	struct ls_metrics metrics;
	int rc = ls_model_predict(s->model, s->rows, NULL, p, &s->err);
	if (rc == 0)
		rc = ls_model_eval(s->model, s->rows, NULL, &metrics, &s->err);
	if (rc == 0)
		rc = ls_model_info(s->model, &s->text, &s->err);
	if (rc == 0 && !strstr(s->text, "\"seed\""))
		fail_msg("a part is missing: %s", s->text);
	if (rc == 0)
		rc = ls_model_save(s->model, model_path, &s->err);
	if (rc == 0)
		rc = ls_model_load(model_path, &s->loaded, &s->err);
	return rc;
}

static int compare(struct session *s)
{
	char *json = NULL;
	int rc = ls_comparison_new(model_path, model_path, NULL, &s->comparison, &s->err);
	if (rc == 0)
		rc = ls_comparison_report(s->comparison, "json", &json, &s->err);
	if (rc == 0 && (!strstr(json, "\"verdict\"") || !strstr(json, "\"results\"")))
		fail_msg("a part is missing: %s", json);
	if (rc == 0 && ls_comparison_answer(s->comparison) != LS_ANSWER_YES)
		fail_msg("a file differs from itself");
	ls_free(json);
	return rc;
}

static int all(struct session *s)
{
	int rc = make_rows(s);
	if (rc == 0)
		rc = train(s);
	if (rc == 0)
		rc = use_model(s);
	return rc ? rc : compare(s);
}

/* --- the tests --- */

static void test_every_allocation(void **state)
{
	(void)state;
#ifdef SANITIZED
	skip(); /* the sanitizer has the allocator */
#endif
	struct session s = {0};
	snprintf(model_path, sizeof model_path, "/tmp/ls_memory.%d", (int)getpid());
	assert_int_equal(all(&s), 0);
	memcpy(want, s.digest, sizeof want);
	done(&s);
	atomic_store(&made, 0);
	s = (struct session){0};
	assert_int_equal(all(&s), 0);
	done(&s);
	long n = atomic_load(&made), failed = 0;
	for (long i = 0; i < n; i++) {
		s = (struct session){0};
		atomic_store(&left, i);
		int rc = all(&s);
		atomic_store(&left, -1);
		if (rc && rc != LS_ENOMEM)
			fail_msg("allocation %ld of %ld: %d: %s", i, n, rc, s.err.msg);
		if (rc == 0)
			assert_string_equal(s.digest, want);
		failed += rc != 0;
		done(&s);
	}
	assert_true(n > 200);
	assert_true(failed > n / 2);
	unlink(model_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
