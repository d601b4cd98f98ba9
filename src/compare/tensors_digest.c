#include "compare/tensors_digest.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compare/compare_internal.h"
#include "tensor/cursor.h"

enum { WINDOW = 1 << 16 }; /* bytes that are packed at a time */

struct leaf {
	char *name;
	char hex[LS_SHA256_HEX];
};

struct ls_tensors_digest {
	struct leaf *leaves;
	size_t n, cap;
};

struct ls_tensors_digest *ls_tensors_digest_new(void)
{
	return ls_xalloc(sizeof(struct ls_tensors_digest));
}

void ls_tensors_digest_free(struct ls_tensors_digest *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++)
		free(d->leaves[i].name);
	free(d->leaves);
	free(d);
}

static int add_packed(struct ls_sha256 *h, const struct ls_tensor *t, struct ls_err *err)
{
	size_t unit = t->elem_size ? t->elem_size : 1,
	       window = unit < WINDOW ? WINDOW / unit * unit : unit;
	uint8_t *buffer = ls_xalloc(window);
	struct ls_cursor *c = ls_cursor_new(t);
	int rc = 0;
	for (uint64_t at = 0; at < t->nbytes && rc == 0; at += window) {
		size_t n = t->nbytes - at < window ? (size_t)(t->nbytes - at) : window;
		rc = ls_cursor_read(c, buffer, n, err);
		if (rc == 0)
			ls_sha256_add(h, buffer, n);
	}
	ls_cursor_free(c);
	free(buffer);
	return rc;
}

int ls_tensors_digest_add(struct ls_tensors_digest *d, const struct ls_tensor *t,
			  struct ls_err *err)
{
	char shape[LS_MAX_DIMS * 24];
	struct leaf leaf = {.name = ls_xstrdup(t->name)};
	struct ls_sha256 *h = ls_sha256_new();
	const char *type = ls_dtype_name(t->dtype);
	ls_tensor_shape_text(t, shape, sizeof shape);
	ls_sha256_add(h, t->name, strlen(t->name) + 1);
	ls_sha256_add(h, type, strlen(type) + 1);
	ls_sha256_add(h, shape, strlen(shape) + 1);
	int rc = 0;
	if (ls_tensor_is_plain(t))
		ls_sha256_add(h, t->data, t->nbytes);
	else
		rc = add_packed(h, t, err);
	ls_sha256_final(h, leaf.hex);
	if (rc) {
		free(leaf.name);
		return rc;
	}
	d->leaves = ls_grow(d->leaves, d->n, &d->cap, sizeof *d->leaves);
	d->leaves[d->n++] = leaf;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct leaf *)a)->name, ((const struct leaf *)b)->name);
}

int ls_tensors_digest_final(struct ls_tensors_digest *d, char ret_hex[LS_SHA256_HEX],
			    struct ls_err *err)
{
	static const char title[] = "lockstep tensors 1\n";
	if (!d->n)
		return ls_err_set(err, LS_EINPUT, "there are no tensors to digest");
	qsort(d->leaves, d->n, sizeof *d->leaves, by_name);
	for (size_t i = 1; i < d->n; i++)
		if (by_name(&d->leaves[i - 1], &d->leaves[i]) == 0)
			return ls_err_set(err, LS_EINPUT, "there are two tensors \"%.200s\"",
					  d->leaves[i].name);
	struct ls_sha256 *h = ls_sha256_new();
	ls_sha256_add(h, title, sizeof title - 1);
	for (size_t i = 0; i < d->n; i++)
		ls_sha256_add(h, d->leaves[i].hex, LS_SHA256_HEX - 1);
	ls_sha256_final(h, ret_hex);
	return 0;
}

int ls_tensors_digest_file(const char *path, char ret_hex[LS_SHA256_HEX], struct ls_err *err)
{
	struct ls_bundle *b;
	int rc = ls_cmp_open(path, &b, err);
	if (rc)
		return rc;
	struct ls_tensors_digest *d = ls_tensors_digest_new();
	for (size_t i = 0; i < b->n_tensors && rc == 0; i++)
		rc = ls_tensors_digest_add(d, &b->tensors[i], err);
	if (rc == 0)
		rc = ls_tensors_digest_final(d, ret_hex, err);
	if (rc)
		ls_err_prefix(err, "%s", path);
	ls_tensors_digest_free(d);
	ls_bundle_free(b);
	return rc;
}
