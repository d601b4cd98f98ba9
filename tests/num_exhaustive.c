/* Every binary32 input of every elementary function against MPFR: num_exhaustive [NAME…].
 * Prints, per function, how many outputs are not correctly rounded, the largest error,
 * the digest of all 2^32 outputs and the wall time; fails when the digest, the count or
 * the error is not the golden one. All processors are used.
 *
 * MPFR for each input would take days. The C library's double function says where the
 * true value lies to within 2^-46 of itself (64 times its documented error); only where a
 * rounding boundary of binary32 is that near does MPFR decide. The C library is thus
 * trusted to 2^-46, and the unit test compares a sample with MPFR alone. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "num_golden.h"
#include "num_reference.h"

enum { BLOCK_BITS = 20, BLOCKS = 1 << (32 - BLOCK_BITS) };

static struct {
	int which;
	atomic_int next;
	uint64_t digest[BLOCKS]; /* each written by the thread that took the block */
	pthread_mutex_t lock;    /* of what follows */
	long wrong, asked;
	double worst;
	float worst_at;
} job = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double estimate(int which, double x)
{
	switch (which) {
	case 0:
		return exp(x);
	case 1:
		return log(x);
	case 2:
		return log1p(x);
	case 3:
		return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
	default:
		return fmax(x, 0) + log1p(exp(-fabs(x)));
	}
}

struct tally {
	struct reference ref;
	long wrong, asked;
	double worst;
	float worst_at;
};

/* |answer - f(x)| in units of the last place of f(x) as a binary32, subnormals included;
 * both finite. */
static double reference_error(struct reference *r, int which, float x, float answer)
{
	reference_value(r, which, x);
	if (mpfr_zero_p(r->y))
		return answer == 0 ? 0 : 1e9;
	mpfr_exp_t e = mpfr_get_exp(r->y) - 24;
	e = e < -149 ? -149 : e;
	mpfr_set_flt(r->t, answer, MPFR_RNDN);
	mpfr_sub(r->t, r->t, r->y, MPFR_RNDN);
	mpfr_abs(r->t, r->t, MPFR_RNDN);
	mpfr_div_2si(r->t, r->t, e, MPFR_RNDN);
	return mpfr_get_d(r->t, MPFR_RNDU);
}

/* A wrong output. MPFR measures its error unless the estimate shows that it is not the
 * largest. */
static void note(struct tally *t, int which, float x, float y, double about)
{
	double spacing = (double)nextafterf(fabsf(y), INFINITY) - (double)fabsf(y);
	t->wrong++;
	if (fabs((double)y - about) / spacing < t->worst - 0.01)
		return;
	double error = reference_error(&t->ref, which, x, y);
	if (error > t->worst) {
		t->worst = error;
		t->worst_at = x;
	}
}

static void compare(struct tally *t, int which, float x, float y)
{
	double about = estimate(which, (double)x);
	if (about != about) {
		t->wrong += ls_bits_f(y) != LS_NAN_BITS;
		return;
	}
	float lo = (float)(about * (1 - 0x1p-46)), hi = (float)(about * (1 + 0x1p-46));
	if (ls_bits_f(lo) == ls_bits_f(hi)) {
		if (ls_bits_f(y) != ls_bits_f(lo))
			note(t, which, x, y, about);
		return;
	}
	t->asked++;
	if (ls_bits_f(y) != ls_bits_f(reference_float(&t->ref, which, x)))
		note(t, which, x, y, about);
}

static void block(struct tally *t, int which, int index, float *out)
{
	for (uint32_t i = 0; i < 1u << BLOCK_BITS; i++)
		out[i] = ls_selftest_function(which, ls_f_bits((uint32_t)index << BLOCK_BITS | i));
	for (uint32_t i = 0; i < 1u << BLOCK_BITS; i++) {
		float x = ls_f_bits((uint32_t)index << BLOCK_BITS | i);
		compare(t, which, x, out[i]);
	}
	job.digest[index] = ls_xxh64(out, sizeof(float) << BLOCK_BITS);
}

static void *worker(void *unused)
{
	(void)unused;
	struct tally t = {.wrong = 0};
	float *out = malloc(sizeof(float) << BLOCK_BITS);
	if (!out)
		abort();
	reference_init(&t.ref);
	for (int i; (i = atomic_fetch_add(&job.next, 1)) < BLOCKS;)
		block(&t, job.which, i, out);
	pthread_mutex_lock(&job.lock);
	job.wrong += t.wrong;
	job.asked += t.asked;
	if (t.worst > job.worst) {
		job.worst = t.worst;
		job.worst_at = t.worst_at;
	}
	pthread_mutex_unlock(&job.lock);
	reference_done(&t.ref);
	mpfr_free_cache();
	free(out);
	return NULL;
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void run_threads(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread[256];
	n = n < 1 ? 1 : n > 256 ? 256 : n;
	for (long i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, worker, NULL))
			abort();
	for (long i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

static int function(int which)
{
	const struct num_golden *g = &num_golden[which];
	double start = seconds();
	char hex[LS_SHA256_HEX];
	job.which = which;
	job.next = 0;
	job.wrong = job.asked = 0;
	job.worst = 0.5;
	job.worst_at = 0;
	run_threads();
	ls_sha256(job.digest, sizeof job.digest, hex);
	char worst[32];
	snprintf(worst, sizeof worst, "%.12f", job.worst);
	int ok = !strcmp(hex, g->all) && job.wrong == g->wrong && !strcmp(worst, g->worst);
	printf("%s %s\n  not correctly rounded: %ld (golden %ld)\n  largest error: %s ulp (golden "
	       "%s), x = %a\n",
	       g->name, ok ? "ok" : "FAILED", job.wrong, g->wrong, worst, g->worst,
	       (double)job.worst_at);
	printf("  digest %s\n  golden %s\n  %ld decided by MPFR, %.0f s\n", hex, g->all, job.asked,
	       seconds() - start);
	fflush(stdout);
	return ok;
}

int main(int argc, char **argv)
{
	int ok = 1, ran = 0;
	for (int f = 0; f < NUM_FUNCTIONS; f++) {
		int wanted = argc < 2;
		for (int i = 1; i < argc; i++)
			wanted |= !strcmp(argv[i], num_golden[f].name);
		if (wanted)
			ok &= function(f);
		ran += wanted;
	}
	return ok && ran ? 0 : 1;
}
