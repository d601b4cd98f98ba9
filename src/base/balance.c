#include "base/balance.h"

#include <stdlib.h>

#include "base/mem.h"

void ls_balance_init(struct ls_balance *s, int workers)
{
	s->begin = ls_xalloc(sizeof *s->begin * ((size_t)workers + 1));
	ls_balance_level(s, workers);
}

void ls_balance_level(struct ls_balance *s, int workers)
{
	s->workers = workers;
	for (int w = 0; w <= workers; w++)
		s->begin[w] = (double)w / workers;
}

void ls_balance_free(struct ls_balance *s)
{
	free(s->begin);
}

enum {
	LEAST = 64
}; /* the smallest share, relative to an equal one: a smaller one could not grow again */

static double between(double lo, double x, double hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

void ls_balance_adjust(struct ls_balance *s, const double *times)
{
	double speeds = 0.0, sum = 0.0, last = 0.0;
	for (int w = 0; w < s->workers; w++) {
		if (!(times[w] > 0.0))
			return;
		speeds += (s->begin[w + 1] - s->begin[w]) / times[w];
	}
	for (int w = 0; w < s->workers; w++) {
		double part = s->begin[w + 1] - last,
		       wanted = 1.0 / (times[w] * speeds); /* relative to its share now */
		last = s->begin[w + 1];
		sum += between(1.0 / (LEAST * s->workers),
			       part * between(0.875, 0.5 + 0.5 * wanted, 1.125), 1.0);
		s->begin[w + 1] = sum;
	}
	for (int w = 1; w < s->workers; w++)
		s->begin[w] /= sum;
	s->begin[s->workers] = 1.0;
}
