#include "stats/student.h"

#include <float.h>
#include <math.h>

/* No denominator of the continued fraction becomes smaller than this. */
static const double tiny = 1e-300;

static double away_from_0(double v)
{
	return fabs(v) < tiny ? tiny : v;
}

/* The continued fraction of the incomplete beta function by Lentz's method. It converges
 * quickly for x below (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / away_from_0(1 - (a + b) * x / (a + 1)), f = d;
	for (int m = 1; m < 100000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 / away_from_0(1 + even * d);
		c = away_from_0(1 + even / c);
		f *= d * c;
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / away_from_0(1 + odd * d);
		c = away_from_0(1 + odd / c);
		f *= d * c;
		if (fabs(d * c - 1) < DBL_EPSILON)
			break;
	}
	return f;
}

/* x^a y^b / (a B(a, b)), for x + y = 1. */
static double beta_factor(double a, double b, double x, double y)
{
	int sign;
	double log_beta = lgamma_r(a, &sign) + lgamma_r(b, &sign) - lgamma_r(a + b, &sign);
	return exp(a * log(x) + b * log(y) - log_beta) / a;
}

/* The regularised incomplete beta function I_x(a, b); y is 1 - x, given apart so that
 * neither loses digits. */
static double beta(double a, double b, double x, double y)
{
	if (x <= 0 || y <= 0)
		return x <= 0 ? 0 : 1;
	if (x < (a + 1) / (a + b + 2))
		return beta_factor(a, b, x, y) * beta_fraction(a, b, x);
	return 1 - beta_factor(b, a, y, x) * beta_fraction(b, a, y);
}

double ls_student_above(double t, double df)
{
	if (isnan(t))
		return t;
	/* By the ratio, t * t does not overflow before x is 0. */
	double r = t / sqrt(df), x = 1 / (1 + r * r), y = isinf(r * r) ? 1 : r * r * x;
	double half = beta(df / 2, 0.5, x, y) / 2;
	return t >= 0 ? half : 1 - half;
}

double ls_student_quantile(double tail, double df)
{
	double low = 0, high = 1;
	while (ls_student_above(high, df) > tail && high < 1e150) {
		low = high;
		high *= 2;
	}
	for (;;) {
		double middle = low + (high - low) / 2;
		if (middle <= low || middle >= high)
			return middle;
		if (ls_student_above(middle, df) > tail)
			low = middle;
		else
			high = middle;
	}
}
