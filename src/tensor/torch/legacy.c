/* What torch.save wrote before version 1.6: five pickles (a number, a version, the
 * machine, the object, the keys of its storages) and then the storages, each behind its
 * number of elements. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/torch/torch_internal.h"

bool ls_torch_is_legacy(const uint8_t *data, size_t len)
{
	static const uint8_t magic[] = {0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9,
					0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e};
	return len > 2 + sizeof magic && data[0] == 0x80 &&
	       memcmp(data + 2, magic, sizeof magic) == 0;
}

/* What a pickle says about a storage: its key and type. */
struct claim {
	const struct ls_pk_node *key;
	enum ls_dtype type;
};

void ls_torch_legacy_done(struct ls_torch_legacy *l)
{
	ls_pickle_free(l->object);
	free(l->storages);
}

static int compare_keys(const char *a, size_t n, const char *b, size_t m)
{
	int order = memcmp(a, b, n < m ? n : m);
	return order ? order : (n > m) - (n < m);
}

static int by_key(const void *a, const void *b)
{
	const struct ls_torch_storage *x = a, *y = b;
	return compare_keys(x->key, x->key_len, y->key, y->key_len);
}

static int by_claim(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;
	return compare_keys(x->key->s, x->key->n, y->key->s, y->key->n);
}

/* The storages that the object refers to, sorted by key. */
static size_t find_claims(const struct ls_pickle *p, struct claim **ret)
{
	size_t n = 0, cap = 0;
	struct claim *list = NULL;
	for (size_t i = 1; i < p->n; i++) {
		const struct ls_pk_node *id =
			p->nodes[i].kind == LS_PK_PERSID ? &p->nodes[p->nodes[i].a] : NULL;
		if (!id || id->kind != LS_PK_TUPLE || id->n < 5)
			continue;
		const struct ls_pk_node *type = &p->nodes[id->items[1]],
					*key = &p->nodes[id->items[2]];
		if (type->kind != LS_PK_GLOBAL || key->kind != LS_PK_STR)
			continue;
		list = ls_grow(list, n, &cap, sizeof *list);
		list[n++] =
			(struct claim){key, ls_torch_storage_type(ls_pickle_global(p, type)->name)};
	}
	if (n)
		qsort(list, n, sizeof *list, by_claim);
	*ret = list;
	return n;
}

/* One storage at *at; moves behind it. */
static int read_storage(const uint8_t *data, size_t len, size_t *at, enum ls_dtype type,
			struct ls_torch_storage *s, struct ls_err *err)
{
	uint64_t count = 0, size = ls_dtype_bits(type) / 8;
	if (len - *at < 8)
		return ls_err_set(err, LS_EINPUT, "byte %zu: ends before a storage", *at);
	for (size_t i = 8; i-- > 0;)
		count = count << 8 | data[*at + i];
	*at += 8;
	if (__builtin_mul_overflow(count, size, &s->bytes) || s->bytes > len - *at)
		return ls_err_set(err, LS_EINPUT,
				  "byte %zu: claims a storage of %" PRIu64
				  " elements, but only %zu bytes follow",
				  *at - 8, count, len - *at);
	s->data = data + *at;
	*at += s->bytes;
	return 0;
}

static int read_storages(const uint8_t *data, size_t len, size_t at, const struct ls_pickle *keys,
			 struct ls_torch_legacy *l, struct ls_err *err)
{
	const struct ls_pk_node *list = &keys->nodes[keys->root];
	struct claim *claims = NULL;
	if (list->kind != LS_PK_LIST)
		return ls_err_set(err, LS_EINPUT, "the list of storages is missing");
	size_t n_claims = find_claims(l->object, &claims);
	l->storages = ls_xalloc((list->n + 1) * sizeof *l->storages);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < list->n; i++) {
		struct claim want = {.key = &keys->nodes[list->items[i]]};
		const struct claim *found =
			want.key->kind == LS_PK_STR && n_claims
				? bsearch(&want, claims, n_claims, sizeof want, by_claim)
				: NULL;
		if (!found || found->type == LS_DT_NONE) {
			rc = ls_err_set(err, LS_EINPUT, "a storage of a type that is not read");
			break;
		}
		struct ls_torch_storage *s = &l->storages[l->n++];
		s->key = found->key->s;
		s->key_len = found->key->n;
		rc = read_storage(data, len, &at, found->type, s, err);
	}
	free(claims);
	if (rc == 0 && l->n)
		qsort(l->storages, l->n, sizeof *l->storages, by_key);
	return rc;
}

int ls_torch_legacy_read(const uint8_t *data, size_t len, struct ls_torch_legacy *l,
			 struct ls_err *err)
{
	size_t at = 0;
	int rc = 0;
	struct ls_pickle *keys = NULL;
	for (int i = 0; i < 5 && rc == 0; i++) {
		struct ls_pickle *p = NULL;
		rc = ls_pickle_parse(data + at, len - at, ls_torch_globals(), &p, err);
		if (rc)
			break;
		at += p->used;
		if (i == 3)
			l->object = p;
		else if (i == 4)
			keys = p;
		else
			ls_pickle_free(p);
	}
	if (rc == 0)
		rc = read_storages(data, len, at, keys, l, err);
	ls_pickle_free(keys);
	return rc;
}

int ls_torch_legacy_storage(const uint8_t *data, size_t len, enum ls_dtype *ret_dtype,
			    const uint8_t **ret, uint64_t *ret_bytes, struct ls_err *err)
{
	struct ls_torch_legacy l = {0};
	struct claim *claims = NULL;
	if (!ls_torch_is_legacy(data, len))
		return ls_err_set(err, LS_EINPUT,
				  "a storage within a pickle is not as torch writes it");
	int rc = ls_torch_legacy_read(data, len, &l, err);
	size_t n = rc ? 0 : find_claims(l.object, &claims);
	if (rc == 0 && (n != 1 || l.n != 1))
		rc = ls_err_set(err, LS_EINPUT, "not one storage within a pickle");
	if (rc == 0) {
		*ret_dtype = claims[0].type;
		*ret = l.storages[0].data;
		*ret_bytes = l.storages[0].bytes;
	}
	free(claims);
	ls_torch_legacy_done(&l);
	return rc;
}
