#include "exact/op/tensor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = 8 };

/* --- words of a row --- */

static const char *word_at(const char *words, size_t i, size_t *ret_len)
{
	for (; i && *words; i--) {
		words += strcspn(words, " ");
		words += strspn(words, " ");
	}
	*ret_len = strcspn(words, " ");
	return words;
}

const char *ls_exact_word(const char *words, size_t i, char *ret, size_t size)
{
	size_t len;
	const char *w = word_at(words, i, &len);
	while (len && strchr("[>~", *w))
		w++, len--;
	if (len && w[len - 1] == ']')
		len--;
	snprintf(ret, size, "%.*s", (int)len, w);
	return ret;
}

size_t ls_exact_words(const char *words, size_t *ret_least)
{
	size_t n = 0, len;
	*ret_least = 0;
	for (const char *w = words; *(w = word_at(w, n > 0, &len)); n++)
		if (*w != '[')
			*ret_least = n + 1;
	return n;
}

static bool is_marked(const struct ls_exact_op_row *row, size_t i, char mark)
{
	size_t len;
	const char *w = word_at(row->tensors, i, &len);
	return (*w == '[' ? w[1] : *w) == mark;
}

static bool may_be_left_out(const struct ls_exact_op_row *row, size_t i)
{
	size_t len;
	return *word_at(row->tensors, i, &len) == '[';
}

bool ls_exact_is_written(const struct ls_exact_op_row *row, size_t i)
{
	return is_marked(row, i, '>');
}

int ls_exact_refuse(const struct ls_exact_call *c, size_t i, struct ls_err *err, const char *fmt,
		    ...)
{
	char why[512], word[64];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	return ls_err_set(err, LS_EINPUT, "the exact operation %s: tensor %s %s", c->row->name,
			  ls_exact_word(c->row->tensors, i, word, sizeof word), why);
}

/* --- types and shapes --- */

static const struct {
	const char *name;
	size_t size;
} types[] = {
	[LS_EXACT_F32] = {"float32", 4}, [LS_EXACT_BF16] = {"bfloat16", 2},
	[LS_EXACT_F16] = {"float16", 2}, [LS_EXACT_F64] = {"float64", 8},
	[LS_EXACT_I64] = {"int64", 8},   [LS_EXACT_I32] = {"int32", 4},
	[LS_EXACT_U8] = {"uint8", 1},    [LS_EXACT_BOOL] = {"bool", 1},
};
enum { TYPES = sizeof types / sizeof *types };

size_t ls_exact_type_size(int type)
{
	return types[type].size;
}

const char *ls_exact_type_name(int type)
{
	return types[type].name;
}

int64_t ls_exact_count(const struct ls_exact_tensor *x)
{
	int64_t n = 1;
	for (int d = 0; d < x->ndim; d++)
		n *= x->size[d];
	return n;
}

bool ls_exact_same_shape(const struct ls_exact_tensor *x, const struct ls_exact_tensor *y)
{
	return x->ndim == y->ndim &&
	       memcmp(x->size, y->size, sizeof *x->size * (size_t)x->ndim) == 0;
}

const struct ls_exact_tensor *ls_exact_given(const struct ls_exact_call *c, size_t i)
{
	return i < c->tensors && c->tensor[i].at ? &c->tensor[i] : NULL;
}

/* --- overlaps --- */

/* A tensor's dimensions without those of size 1, strides positive and largest first; at:
 * the lowest element's address. */
struct span {
	uintptr_t at;
	int64_t size, extent; /* bytes of an element; bytes from the first to behind the last */
	int ndim;
	int64_t count[DIMS], step[DIMS]; /* step: bytes */
};

static struct span span_of(const struct ls_exact_tensor *x)
{
	struct span s = {.at = (uintptr_t)x->at, .size = (int64_t)types[x->type].size};
	s.extent = s.size;
	for (int d = 0; d < x->ndim; d++) {
		int64_t n = x->size[d], step = x->stride[d] * s.size;
		if (n == 1)
			continue;
		if (step < 0)
			s.at -= (uintptr_t)(-step * (n - 1));
		step = step < 0 ? -step : step;
		s.extent += step * (n - 1);
		int i = s.ndim++;
		for (; i > 0 && s.step[i - 1] < step; i--) {
			s.step[i] = s.step[i - 1];
			s.count[i] = s.count[i - 1];
		}
		s.step[i] = step;
		s.count[i] = n;
	}
	return s;
}

/* Bytes that dimensions from d on reach over. */
static int64_t reach(const struct span *s, int d)
{
	int64_t bytes = s->size;
	for (; d < s->ndim; d++)
		bytes += s->step[d] * (s->count[d] - 1);
	return bytes;
}

/* Whether every row lies apart from the next, in each dimension: then no two elements
 * share memory. */
static bool is_nested(const struct span *s)
{
	for (int d = 0; d < s->ndim; d++)
		if (reach(s, d + 1) > s->step[d])
			return false;
	return true;
}

static bool same_steps(const struct span *x, const struct span *y)
{
	return x->ndim == y->ndim &&
	       memcmp(x->step, y->step, sizeof *x->step * (size_t)x->ndim) == 0;
}

/* Whether the dimensions from d on of x and of y, y's first element `by` bytes behind
 * x's, may share memory. Both are nested, with the same steps: two columns of one matrix
 * are told apart. */
static bool may_meet(const struct span *x, const struct span *y, int d, int64_t by)
{
	if (by >= reach(x, d) || -by >= reach(y, d))
		return false;
	if (d == x->ndim)
		return true;
	int64_t step = x->step[d], rest = by % step;
	rest += rest < 0 ? step : 0;
	return may_meet(x, y, d + 1, rest) || may_meet(x, y, d + 1, rest - step);
}

static bool overlap(const struct ls_exact_tensor *a, const struct ls_exact_tensor *b)
{
	struct span x = span_of(a), y = span_of(b);
	if (x.at + (uintptr_t)x.extent <= y.at || y.at + (uintptr_t)y.extent <= x.at)
		return false;
	if (!same_steps(&x, &y) || !is_nested(&x) || !is_nested(&y))
		return true;
	return may_meet(&x, &y, 0, (int64_t)(y.at - x.at));
}

static bool is_same(const struct ls_exact_tensor *a, const struct ls_exact_tensor *b)
{
	if (a->at != b->at || a->type != b->type || !ls_exact_same_shape(a, b))
		return false;
	for (int d = 0; d < a->ndim; d++)
		if (a->size[d] != 1 && a->stride[d] != b->stride[d])
			return false;
	return true;
}

/* --- the check --- */

/* Sizes and distances whose products fit 62 bits. */
static int check_one(const struct ls_exact_call *c, size_t i, struct ls_err *err)
{
	const struct ls_exact_tensor *x = &c->tensor[i];
	if (x->type < 0 || x->type >= TYPES)
		return ls_exact_refuse(c, i, err, "has a type that is not known: %d", x->type);
	if (x->ndim < 0 || x->ndim > DIMS)
		return ls_exact_refuse(c, i, err, "has %d dimensions; at most %d are possible",
				       x->ndim, DIMS);
	double count = 1, reach_to = 1;
	for (int d = 0; d < x->ndim; d++) {
		if (x->size[d] < 0)
			return ls_exact_refuse(c, i, err, "has a negative size");
		count *= (double)x->size[d];
		reach_to += (double)llabs(x->stride[d]) * (double)x->size[d];
	}
	if (count > 0x1p58 || reach_to > 0x1p58)
		return ls_exact_refuse(c, i, err, "is larger than memory can be");
	if (!x->at && count > 0 && !may_be_left_out(c->row, i))
		return ls_exact_refuse(c, i, err, "has no memory");
	if (x->at && (uintptr_t)x->at % types[x->type].size)
		return ls_exact_refuse(c, i, err, "is not aligned to its elements");
	return 0;
}

static int check_written(const struct ls_exact_call *c, size_t i, struct ls_err *err)
{
	const struct ls_exact_tensor *x = &c->tensor[i];
	if (!x->at || ls_exact_count(x) == 0)
		return 0;
	struct span s = span_of(x);
	if (!is_nested(&s))
		return ls_exact_refuse(c, i, err, "is written, and its elements share memory");
	for (size_t k = 0; k < c->tensors; k++) {
		const struct ls_exact_tensor *y = &c->tensor[k];
		if (k == i || !y->at || ls_exact_count(y) == 0 || !overlap(x, y))
			continue;
		char word[64];
		if (!is_marked(c->row, k, '~') || !is_same(x, y))
			return ls_exact_refuse(
				c, i, err, "is written, and shares memory with %s",
				ls_exact_word(c->row->tensors, k, word, sizeof word));
	}
	return 0;
}

int ls_exact_check_tensors(const struct ls_exact_call *c, struct ls_err *err)
{
	int rc = 0;
	for (size_t i = 0; i < c->tensors && !rc; i++)
		rc = check_one(c, i, err);
	for (size_t i = 0; i < c->tensors && !rc; i++)
		if (ls_exact_is_written(c->row, i))
			rc = check_written(c, i, err);
	return rc;
}
