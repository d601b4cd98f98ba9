#include "run/metric_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1024 };

size_t ls_metric_number(const char *p, size_t len, double *ret)
{
	char token[LONGEST];
	size_t n = 0;
	while (n < len && n < sizeof token - 1 &&
	       (isalnum((unsigned char)p[n]) || strchr("+-.", p[n])) && p[n])
		n++;
	memcpy(token, p, n);
	token[n] = 0;
	char *end = token;
	bool word = strspn(token, "+-aefinty.0123456789AEFINTY") == n;
	double v = n && word ? strtod(token, &end) : 0;
	while (*end == '.' && !end[1])
		end++; /* the end of a sentence */
	if (end == token || *end)
		return 0;
	*ret = v;
	return n;
}

/* --- CSV --- */

void ls_metric_cell(struct ls_metric_cells *c, struct ls_str *out)
{
	bool quoted = false;
	out->len = 0;
	for (; c->p < c->end; c->p++) {
		if (*c->p == '"' && quoted && c->p + 1 < c->end && c->p[1] == '"')
			c->p++;
		else if (*c->p == '"') {
			quoted = !quoted;
			continue;
		} else if (!quoted && (*c->p == c->separator || *c->p == '\n'))
			break;
		if (out->len < LONGEST && *c->p != '\r')
			ls_str_add_bytes(out, c->p, 1);
	}
	c->broken |= quoted;
	c->row_ends = c->p >= c->end || *c->p == '\n';
	c->p += c->p < c->end;
	ls_str_add(out, "");
}

/* --- what a program prints --- */

bool ls_metric_in_name(char c)
{
	return isalnum((unsigned char)c) || strchr("_./-", c) || (unsigned char)c >= 0x80;
}

size_t ls_metric_assigned(const char *p, const char *end, double *ret)
{
	const char *start = p;
	while (p < end && *p && strchr("'\" \t", *p))
		p++;
	if (p >= end || (*p != ':' && *p != '='))
		return 0;
	for (p++; p < end && *p && strchr(" \t", *p); p++)
		;
	const char *q = p;
	while (q < end && (isalnum((unsigned char)*q) || *q == '.' || *q == '_'))
		q++;
	if (q < end && *q == '(' && q > p && isalpha((unsigned char)*p))
		p = q + 1;
	size_t n = ls_metric_number(p, (size_t)(end - p), ret);
	return n ? (size_t)(p - start) + n : 0;
}
