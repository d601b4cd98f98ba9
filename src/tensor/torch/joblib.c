/* joblib.dump writes a pickle with the arrays' bytes between its opcodes; an array of
 * objects is a pickle of its own. */
#include <stdlib.h>
#include <string.h>

#include "tensor/torch/torch_internal.h"

const struct ls_pk_node *ls_pickle_get(const struct ls_pickle *p, const struct ls_pk_node *d,
				       const char *key)
{
	size_t n = strlen(key);
	for (size_t i = 0; d && d->kind == LS_PK_DICT && i + 1 < d->n; i += 2) {
		const struct ls_pk_node *k = &p->nodes[d->items[i]];
		if (k->kind == LS_PK_STR && k->n == n && memcmp(k->s, key, n) == 0)
			return &p->nodes[d->items[i + 1]];
	}
	return NULL;
}

/* Bytes an element: the number behind the letter of "f8", "U3" (characters of four bytes)
 * or "V64". */
static bool element_size(const struct ls_pickle *p, const struct ls_pk_node *dtype, uint64_t *ret)
{
	const struct ls_pk_node *args =
		dtype && dtype->kind == LS_PK_CALL ? &p->nodes[dtype->b] : NULL;
	const struct ls_pk_node *code = args && args->n ? &p->nodes[args->items[0]] : NULL;
	*ret = 0;
	if (!code || code->kind != LS_PK_STR || code->n < 2 || code->n > 8 || code->s[0] == 'O')
		return false;
	for (size_t i = 1; i < code->n; i++) {
		if (code->s[i] < '0' || code->s[i] > '9')
			return false;
		*ret = *ret * 10 + (uint64_t)(code->s[i] - '0');
	}
	*ret *= code->s[0] == 'U' ? 4 : 1;
	return *ret > 0;
}

bool ls_joblib_is_objects(const struct ls_pickle *p, const struct ls_pk_node *call)
{
	const struct ls_pk_node *dtype = ls_pickle_get(p, &p->nodes[call->c], "dtype");
	const struct ls_pk_node *args =
		dtype && dtype->kind == LS_PK_CALL ? &p->nodes[dtype->b] : NULL;
	const struct ls_pk_node *code = args && args->n ? &p->nodes[args->items[0]] : NULL;
	return code && code->kind == LS_PK_STR && code->n >= 1 && code->s[0] == 'O';
}

/* Only a pickle itself knows where it ends. */
static int nested_size(const uint8_t *rest, size_t len, size_t *ret_skip, uint64_t *ret_size,
		       struct ls_err *err)
{
	static const struct ls_pk_global none[] = {{NULL, NULL, 0, NULL}};
	struct ls_pickle *nested = NULL;
	int rc = ls_pickle_parse(rest, len, none, &nested, err);
	if (rc)
		return rc;
	*ret_skip = 0;
	*ret_size = nested->used;
	ls_pickle_free(nested);
	return 0;
}

int ls_joblib_raw(const struct ls_pickle *p, const struct ls_pk_node *call, const uint8_t *rest,
		  size_t len, size_t *ret_skip, uint64_t *ret_size, struct ls_err *err)
{
	const struct ls_pk_node *s = &p->nodes[call->c];
	const struct ls_pk_node *shape = ls_pickle_get(p, s, "shape"),
				*align = ls_pickle_get(p, s, "numpy_array_alignment_bytes");
	uint64_t size = 0;
	if (ls_joblib_is_objects(p, call))
		return nested_size(rest, len, ret_skip, ret_size, err);
	if (!shape || shape->kind != LS_PK_TUPLE ||
	    !element_size(p, ls_pickle_get(p, s, "dtype"), &size))
		return ls_err_set(err, LS_EINPUT, "an array of joblib of a type that is not read");
	for (size_t i = 0; i < shape->n; i++) {
		const struct ls_pk_node *d = &p->nodes[shape->items[i]];
		if (d->kind != LS_PK_INT || d->i < 0 ||
		    __builtin_mul_overflow(size, (uint64_t)d->i, &size))
			return ls_err_set(err, LS_EINPUT, "an array of joblib without a shape");
	}
	bool aligned = align && align->kind == LS_PK_INT;
	if (aligned && len == 0)
		return ls_err_set(err, LS_EINPUT, "the file ends before an array of joblib");
	*ret_skip = aligned ? 1 + (size_t)rest[0] : 0;
	*ret_size = size;
	return 0;
}
