/* The sum with one written order: zero-padded to a power of two, then halved, t[i] += t[i + h] for h = n/2 … 1.
 * Owns nothing. Any thread; on a GPU the same order comes from shuffles of distance h. */
#ifndef LS_NUM_HALVE_H
#define LS_NUM_HALVE_H

#include "num/port.h"

#define LS_HALVE_MAX 256

/* The least power of two >= n; 1 for n <= 1. */
LS_FN int ls_halve_width(int n)
{
	int w = 1;
	while (w < n)
		w *= 2;
	return w;
}

/* n in [0, LS_HALVE_MAX]; 0 gives 0, 1 gives t[0]. The padding is really added: -0 + 0 is +0. */
LS_FN float ls_halve_sum(const float *t, int n)
{
	float a[LS_HALVE_MAX / 2];
	int h = ls_halve_width(n) / 2, rest = n - h;
	if (n < 2)
		return n == 1 ? t[0] : 0.0f;
	for (int i = 0; i < rest; i++)
		a[i] = t[i] + t[i + h];
	for (int i = rest; i < h; i++)
		a[i] = t[i] + 0.0f;
	for (h /= 2; h >= 1; h /= 2)
		for (int i = 0; i < h; i++)
			a[i] += a[i + h];
	return a[0];
}

#endif
