/* print_stats: each line of standard input is a margin, then "|", the values of one
 * group, "|" and those of another; prints one JSON document a line, for
 * tests/stats/against_scipy.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"

static size_t numbers(char *text, double *ret)
{
	size_t n = 0;
	char *save = NULL;
	for (char *w = strtok_r(text, " \n", &save); w; w = strtok_r(NULL, " \n", &save))
		if (n < LS_STATS_MAX)
			ret[n++] = strtod(w, NULL);
	return n;
}

int main(void)
{
	static double a[LS_STATS_MAX], b[LS_STATS_MAX];
	char *line = NULL;
	size_t cap = 0;
	while (getline(&line, &cap, stdin) > 0) {
		struct ls_stats_pair p;
		struct ls_err err;
		char *first = strchr(line, '|'), *second = strchr(first + 1, '|');
		*second = 0;
		struct ls_stats_ask ask = {.margin = strtod(line, NULL), .seed = 7};
		size_t n_a = numbers(first + 1, a), n_b = numbers(second + 1, b);
		if (ls_stats_compare(a, n_a, b, n_b, &ask, &p, &err))
			return 2;
		json_t *o = ls_stats_pair_json(&p, "A", "B");
		json_object_set_new(o, "a", ls_stats_group_json(&p.a));
		json_object_set_new(o, "b", ls_stats_group_json(&p.b));
		json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
		putchar('\n');
		json_decref(o);
	}
	free(line);
	return 0;
}
