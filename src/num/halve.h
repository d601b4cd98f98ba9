/* The sum with one written order: zero-padded to a power of two, then halved, t[i] += t[i
 * + h] for h = n/2 … 1. Owns nothing. Any thread; on a GPU the same order comes from
 * shuffles of distance h. */
#ifndef LS_NUM_HALVE_H
#define LS_NUM_HALVE_H

#include "num/port.h"

#define LS_HALVE_MAX 256

/* The least power of two >= n; 1 for n <= 1. n <= LS_HALVE_MAX. No loop, so that a
 * constant n folds. */
LS_FN int ls_halve_width(int n)
{
	if (n > 16)
		return n > 64 ? n > 128 ? 256 : 128 : n > 32 ? 64 : 32;
	return n > 4 ? n > 8 ? 16 : 8 : n > 2 ? 4 : n > 1 ? 2 : 1;
}

LS_FN void ls_halve_step(float *a, int h)
{
	for (int i = 0; i < h; i++)
		a[i] += a[i + h];
}

/* The steps written out where the compiler would otherwise go through memory. */
LS_FN float ls_halve_4(float a0, float a1, float a2, float a3)
{
	return (a0 + a2) + (a1 + a3);
}

LS_FN float ls_halve_8(const float *a)
{
	return ls_halve_4(a[0] + a[4], a[1] + a[5], a[2] + a[6], a[3] + a[7]);
}

/* width is a power of two up to LS_HALVE_MAX / 2; a is used up. */
LS_FN float ls_halve_in_place(float *a, int width)
{
	if (width >= 128)
		ls_halve_step(a, 64);
	if (width >= 64)
		ls_halve_step(a, 32);
	if (width >= 32)
		ls_halve_step(a, 16);
	if (width >= 16)
		ls_halve_step(a, 8);
	if (width >= 8)
		return ls_halve_8(a);
	if (width == 4)
		return ls_halve_4(a[0], a[1], a[2], a[3]);
	return width == 2 ? a[0] + a[1] : a[0];
}

/* n in [0, LS_HALVE_MAX]; 0 gives 0, 1 gives t[0]. The padding is really added: -0 + 0 is
 * +0. */
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
	return ls_halve_in_place(a, h);
}

#endif
