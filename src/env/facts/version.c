#include "env/facts/version.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

static bool number(const char **p, uint64_t *ret)
{
	uint64_t v = 0;
	const char *s = *p;
	if (!isdigit((unsigned char)*s))
		return false;
	for (; isdigit((unsigned char)*s); s++) {
		if (v > (UINT64_MAX - 9) / 10)
			return false;
		v = v * 10 + (uint64_t)(*s - '0');
	}
	*p = s;
	*ret = v;
	return true;
}

static bool release(const char **p, struct ls_version *v)
{
	for (;;) {
		if (v->n_parts == LS_VERSION_PARTS || !number(p, &v->part[v->n_parts]))
			return false;
		v->n_parts++;
		if ((*p)[0] != '.' || !isdigit((unsigned char)(*p)[1]))
			return true;
		++*p;
	}
}

/* Takes word (and a separator before it, and the number after it) off *p. */
static bool tag(const char **p, const char *word, uint64_t *ret_n)
{
	const char *s = *p;
	if (*s == '.' || *s == '-' || *s == '_')
		s++;
	if (strncasecmp(s, word, strlen(word)) != 0)
		return false;
	s += strlen(word);
	if (!number(&s, ret_n))
		*ret_n = 0;
	*p = s;
	return true;
}

static void pre_release(const char **p, struct ls_version *v)
{
	static const struct {
		const char *word;
		int rank;
	} words[] = {{"alpha", 'a'}, {"beta", 'b'}, {"rc", 'r'},
		     {"a", 'a'},     {"b", 'b'},    {"c", 'r'}};
	for (size_t i = 0; i < sizeof words / sizeof *words && !v->pre; i++)
		if (tag(p, words[i].word, &v->pre_n))
			v->pre = words[i].rank;
}

static bool local_part(const char **p, struct ls_version *v)
{
	if (**p != '+')
		return true;
	const char *s = *p + 1;
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
	if (n == 0 || n >= sizeof v->local)
		return false;
	memcpy(v->local, s, n);
	v->local[n] = 0;
	*p = s + n;
	return true;
}

bool ls_version_parse(const char *s, struct ls_version *ret)
{
	struct ls_version v = {0};
	if (*s == 'v' || *s == 'V')
		s++;
	if (!release(&s, &v))
		return false;
	pre_release(&s, &v);
	v.post = tag(&s, "post", &v.post_n);
	v.dev = tag(&s, "dev", &v.dev_n);
	if (!local_part(&s, &v) || *s)
		return false;
	*ret = v;
	return true;
}

bool ls_version_kernel(const char *s, struct ls_version *ret_release, struct ls_version *ret_build,
		       const char **ret_rest)
{
	struct ls_version first = {0}, second = {0};
	if (!release(&s, &first))
		return false;
	if (ls_str_starts(s, "-rc") &&
	    isdigit((unsigned char)s[3])) { /* -arm64 is no alpha, -bpo no beta */
		first.pre = 'r';
		s += 3;
		number(&s, &first.pre_n);
	}
	if (s[0] == '-' && isdigit((unsigned char)s[1])) {
		const char *numbers = s + 1;
		if (release(&numbers, &second))
			s = numbers;
		else
			second = (struct ls_version){0};
	}
	*ret_release = first;
	*ret_build = second;
	*ret_rest = s;
	return true;
}

static int order_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* dev of a release comes before its a, b, rc; those before the release; post after it. */
static int stage(const struct ls_version *v)
{
	if (v->pre)
		return v->pre;
	return v->dev && !v->post ? 0 : 'z';
}

int ls_version_order(const struct ls_version *a, const struct ls_version *b)
{
	int o = 0;
	for (size_t i = 0; i < LS_VERSION_PARTS && !o; i++)
		o = order_u64(a->part[i], b->part[i]);
	if (!o)
		o = order_u64((uint64_t)stage(a), (uint64_t)stage(b));
	if (!o)
		o = order_u64(a->pre_n, b->pre_n);
	if (!o)
		o = order_u64(a->post ? a->post_n + 1 : 0, b->post ? b->post_n + 1 : 0);
	if (!o)
		o = order_u64(a->dev ? a->dev_n : UINT64_MAX, b->dev ? b->dev_n : UINT64_MAX);
	return o;
}

bool ls_version_compare(const char *a, const char *b, int *ret)
{
	struct ls_version va, vb;
	if (!ls_version_parse(a, &va) || !ls_version_parse(b, &vb))
		return false;
	*ret = ls_version_order(&va, &vb);
	return true;
}

bool ls_version_cudnn(const char *value, char ret[LS_VERSION_TEXT])
{
	const char *p = value;
	uint64_t code;
	struct ls_version v;
	if (number(&p, &code) && !*p && code >= 1000) {
		uint64_t major = code < 10000 ? 1000 : 10000;
		snprintf(ret, LS_VERSION_TEXT, "%llu.%llu.%llu", (unsigned long long)(code / major),
			 (unsigned long long)(code % major / 100),
			 (unsigned long long)(code % 100));
		return true;
	}
	if (strlen(value) >= LS_VERSION_TEXT || !ls_version_parse(value, &v))
		return false;
	memmove(ret, value, strlen(value) + 1);
	return true;
}

uint64_t ls_version_cudnn_code(const char *text)
{
	struct ls_version v;
	if (!ls_version_parse(text, &v) || v.n_parts < 3 || v.part[0] > 1000 || v.part[1] > 99 ||
	    v.part[2] > 99)
		return 0;
	return v.part[0] * (v.part[0] < 9 ? 1000 : 10000) + v.part[1] * 100 + v.part[2];
}

bool ls_version_memory(const char *text, double *ret_mib)
{
	static const struct {
		const char *unit;
		double mib;
	} units[] = {{"MiB", 1},           {"MB", 1},           {"M", 1},
		     {"GiB", 1024},        {"GB", 1024},        {"G", 1024},
		     {"TiB", 1024 * 1024}, {"TB", 1024 * 1024}, {"KiB", 1.0 / 1024}};
	char *end;
	if (!isdigit((unsigned char)*text))
		return false;
	double v = strtod(text, &end);
	end += strspn(end, " ");
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcasecmp(end, units[i].unit) == 0 && v < 1e15) {
			*ret_mib = v * units[i].mib;
			return true;
		}
	return false;
}
