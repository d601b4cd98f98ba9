/* The right answers, from MPFR at 160 bits: rounded once to binary32, and the error of a
 * given answer in ulps. struct reference holds MPFR variables: init and done; one thread
 * at a time an object. */
#ifndef LS_TESTS_NUM_REFERENCE_H
#define LS_TESTS_NUM_REFERENCE_H

#include <mpfr.h>

struct reference {
	mpfr_t x, y, t;
};

static void reference_init(struct reference *r)
{
	mpfr_inits2(160, r->x, r->y, r->t, (mpfr_ptr)0);
}

static void reference_done(struct reference *r)
{
	mpfr_clears(r->x, r->y, r->t, (mpfr_ptr)0);
}

/* y = f(x) in the order of num_golden. 1 + e^-|x| needs more than 160 bits when x is
 * large, hence log1p and expm1. */
static void reference_value(struct reference *r, int which, float x)
{
	mpfr_set_flt(r->x, x, MPFR_RNDN);
	switch (which) {
	case 0:
		mpfr_exp(r->y, r->x, MPFR_RNDN);
		return;
	case 1:
		mpfr_log(r->y, r->x, MPFR_RNDN);
		return;
	case 2:
		mpfr_log1p(r->y, r->x, MPFR_RNDN);
		return;
	case 3: /* 1 / (1 + e^-x) */
		mpfr_neg(r->x, r->x, MPFR_RNDN);
		mpfr_exp(r->t, r->x, MPFR_RNDN);
		mpfr_add_ui(r->t, r->t, 1, MPFR_RNDN);
		mpfr_ui_div(r->y, 1, r->t, MPFR_RNDN);
		return;
	default: /* max(x, 0) + log1p(e^-|x|) */
		mpfr_abs(r->t, r->x, MPFR_RNDN);
		mpfr_neg(r->t, r->t, MPFR_RNDN);
		mpfr_exp(r->t, r->t, MPFR_RNDN);
		mpfr_log1p(r->y, r->t, MPFR_RNDN);
		if (x > 0)
			mpfr_add(r->y, r->y, r->x, MPFR_RNDN);
	}
}

static float reference_float(struct reference *r, int which, float x)
{
	reference_value(r, which, x);
	return mpfr_get_flt(r->y, MPFR_RNDN);
}

#endif
