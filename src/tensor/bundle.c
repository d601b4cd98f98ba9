/* What a reader fills: lists that grow, the memory they borrow from, look-up by name. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/tensor.h"
#include "tensor/zip.h"

struct ls_bundle *ls_bundle_new(const char *format)
{
	struct ls_bundle *b = ls_xalloc(sizeof *b);
	b->format = format;
	return b;
}

void ls_bundle_free(struct ls_bundle *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->n_blocks; i++)
		free(b->blocks[i]);
	for (size_t i = 0; i < b->n_maps; i++) {
		ls_file_unmap(&b->maps[i]);
		free(b->map_paths[i]);
	}
	free(b->map_paths);
	for (size_t i = 0; i < b->n_zips; i++) {
		ls_zip_done(b->zips[i]);
		free(b->zips[i]);
	}
	free(b->zips);
	free(b->blocks);
	free(b->maps);
	free(b->tensors);
	free(b->values);
	free(b->traits);
	free(b->by_name);
	free(b);
}

void *ls_bundle_keep_take(struct ls_bundle *b, void *block)
{
	b->blocks = ls_grow(b->blocks, b->n_blocks, &b->cap_blocks, sizeof *b->blocks);
	b->blocks[b->n_blocks++] = block;
	return block;
}

char *ls_bundle_text(struct ls_bundle *b, const char *s, size_t len)
{
	char *copy = ls_xalloc(len + 1);
	if (len)
		memcpy(copy, s, len);
	return ls_bundle_keep_take(b, copy);
}

static void keep_map(struct ls_bundle *b, struct ls_map map, const char *path)
{
	b->maps = ls_grow(b->maps, b->n_maps, &b->cap_maps, sizeof *b->maps);
	b->map_paths = ls_grow(b->map_paths, b->n_maps, &b->cap_map_paths, sizeof *b->map_paths);
	b->map_paths[b->n_maps] = ls_xstrdup(path);
	b->maps[b->n_maps++] = map;
}

int ls_bundle_map(struct ls_bundle *b, const char *path, struct ls_map *ret, struct ls_err *err)
{
	struct ls_map map;
	for (size_t i = b->n_maps; i-- > 0;)
		if (strcmp(b->map_paths[i], path) == 0) {
			*ret = b->maps[i];
			return 0;
		}
	int rc = ls_file_map(path, &map, err);
	if (rc)
		return rc;
	keep_map(b, map, path);
	*ret = map;
	return 0;
}

int ls_bundle_map_fd(struct ls_bundle *b, int fd, struct ls_map *ret, struct ls_err *err)
{
	struct ls_map map;
	int rc = ls_file_map_fd(fd, "(scratch)", &map, err);
	if (rc)
		return rc;
	keep_map(b, map, "");
	*ret = map;
	return 0;
}

struct ls_zip *ls_bundle_keep_zip(struct ls_bundle *b)
{
	b->zips = ls_grow(b->zips, b->n_zips, &b->cap_zips, sizeof(void *));
	return b->zips[b->n_zips++] = ls_xalloc(sizeof **b->zips);
}

struct ls_tensor *ls_bundle_add(struct ls_bundle *b, const char *name, size_t len)
{
	const char *copy = ls_bundle_text(b, name, len);
	b->tensors = ls_grow(b->tensors, b->n_tensors, &b->cap_tensors, sizeof *b->tensors);
	struct ls_tensor *t = &b->tensors[b->n_tensors++];
	*t = (struct ls_tensor){.name = copy};
	return t;
}

void ls_bundle_add_member(struct ls_bundle *b, const struct ls_zip_member *m)
{
	struct ls_tensor *t = ls_bundle_add(b, m->name, strlen(m->name));
	t->dtype = LS_DT_U8;
	t->elem_size = 1;
	ls_tensor_set_contiguous(t, &m->size, 1, NULL);
	if (m->deflated)
		t->packed = m;
	else
		t->data = m->data;
}

struct ls_value *ls_bundle_add_value(struct ls_bundle *b, const char *name, size_t len,
				     enum ls_value_kind kind)
{
	const char *copy = ls_bundle_text(b, name, len);
	b->values = ls_grow(b->values, b->n_values, &b->cap_values, sizeof *b->values);
	struct ls_value *v = &b->values[b->n_values++];
	*v = (struct ls_value){.name = copy, .kind = kind};
	return v;
}

void ls_bundle_add_trait(struct ls_bundle *b, const char *name, const char *text)
{
	struct ls_trait t = {ls_bundle_text(b, name, strlen(name)),
			     ls_bundle_text(b, text, strlen(text))};
	b->traits = ls_grow(b->traits, b->n_traits, &b->cap_traits, sizeof *b->traits);
	b->traits[b->n_traits++] = t;
}

static int by_name(const void *a, const void *b, void *bundle)
{
	const struct ls_bundle *set = bundle;
	return strcmp(set->tensors[*(const size_t *)a].name, set->tensors[*(const size_t *)b].name);
}

int ls_bundle_seal(struct ls_bundle *b, const char *path, struct ls_err *err)
{
	free(b->by_name);
	b->by_name = ls_alloc_array(b->n_tensors + 1, sizeof *b->by_name);
	if (!b->by_name)
		return ls_err_set(err, LS_ENOMEM, "%s: no memory for %zu tensors", path,
				  b->n_tensors);
	for (size_t i = 0; i < b->n_tensors; i++)
		b->by_name[i] = i;
	qsort_r(b->by_name, b->n_tensors, sizeof *b->by_name, by_name, b);
	for (size_t i = 1; i < b->n_tensors; i++)
		if (by_name(&b->by_name[i - 1], &b->by_name[i], b) == 0)
			return ls_err_set(err, LS_EINPUT, "%s: two tensors are named \"%.200s\"",
					  path, b->tensors[b->by_name[i]].name);
	return 0;
}

int ls_bundle_hand_take(struct ls_bundle *b, int rc, struct ls_bundle **ret)
{
	if (rc)
		ls_bundle_free(b);
	else
		*ret = b;
	return rc;
}

struct ls_tensor *ls_bundle_find(const struct ls_bundle *b, const char *name)
{
	for (size_t low = 0, high = b->n_tensors; low < high;) {
		size_t mid = low + (high - low) / 2;
		struct ls_tensor *t = &b->tensors[b->by_name[mid]];
		int order = strcmp(name, t->name);
		if (order == 0)
			return t;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

const char *ls_bundle_meta(const struct ls_bundle *b, const char *key)
{
	for (size_t i = 0; i < b->n_values; i++)
		if (b->values[i].kind == LS_VAL_STRING && strcmp(b->values[i].name, key) == 0)
			return b->values[i].text;
	return NULL;
}
