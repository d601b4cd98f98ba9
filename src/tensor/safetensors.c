#include "tensor/safetensors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

enum {
	HEADER_LIMIT = 100000000, /* the format's own limit, bytes */
	OBJECT_LIMIT = 1 << 18,   /* tensors a file: keeps the memory that a hostile header can ask
				     for below a GiB */
	NUMBER_LIMIT = 1 << 22,
};

static const char meta_key[] = "__metadata__";

/* Ranges of the data section, to see that they cover it exactly once. */
struct span {
	uint64_t begin, end;
	size_t tensor;
};

static int fault(struct ls_err *err, const char *file, const char *tensor, const char *what)
{
	return ls_err_set(err, LS_EINPUT, "%s: tensor \"%.200s\": %s", file, tensor, what);
}

static int add_metadata(struct ls_bundle *b, json_t *map, const char *file, struct ls_err *err)
{
	const char *key;
	json_t *value;
	if (!json_is_object(map))
		return ls_err_set(err, LS_EINPUT, "%s: __metadata__ is %s, not an object", file,
				  ls_json_kind(map));
	json_object_foreach(map, key, value)
	{
		if (!json_is_string(value))
			return ls_err_set(err, LS_EINPUT,
					  "%s: __metadata__.%.100s is %s; only strings are allowed",
					  file, key, ls_json_kind(value));
		struct ls_value *v = ls_bundle_add_value(b, key, strlen(key), LS_VAL_STRING);
		v->meta = true;
		v->len = json_string_length(value);
		v->text = ls_bundle_text(b, json_string_value(value), v->len);
	}
	return 0;
}

static int read_u64(const json_t *v, uint64_t *ret)
{
	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return -1;
	*ret = (uint64_t)json_integer_value(v);
	return 0;
}

static int read_shape(struct ls_tensor *t, const json_t *list, const char *file, struct ls_err *err)
{
	uint64_t shape[LS_MAX_DIMS];
	size_t ndim = json_array_size(list);
	if (!json_is_array(list))
		return fault(err, file, t->name, "\"shape\" is missing or not a list");
	if (ndim > LS_MAX_DIMS)
		return fault(err, file, t->name, "more than 32 dimensions");
	for (size_t i = 0; i < ndim; i++)
		if (read_u64(json_array_get(list, i), &shape[i]))
			return fault(err, file, t->name, "a dimension is not a whole number");
	if (ls_tensor_set_contiguous(t, shape, ndim, err))
		return ls_err_prefix(err, "%s: tensor \"%.200s\"", file, t->name);
	return 0;
}

static int read_entry(struct ls_tensor *t, const json_t *entry, struct span *ret, const char *file,
		      struct ls_err *err)
{
	static const char *const names[] = {"dtype", "shape", "data_offsets", NULL};
	if (!json_is_object(entry))
		return fault(err, file, t->name, "its entry is not an object");
	if (ls_json_only(entry, names, file, err))
		return ls_err_prefix(err, "tensor \"%.200s\"", t->name);
	const char *dtype = json_string_value(json_object_get(entry, "dtype"));
	t->dtype = dtype ? ls_dtype_of_safetensors(dtype) : LS_DT_NONE;
	if (t->dtype == LS_DT_NONE)
		return ls_err_set(err, LS_EINPUT, "%s: tensor \"%.200s\": unknown dtype \"%.40s\"",
				  file, t->name, dtype ? dtype : "(none)");
	t->elem_size = ls_dtype_bits(t->dtype) % 8 ? 0 : ls_dtype_bits(t->dtype) / 8;
	int rc = read_shape(t, json_object_get(entry, "shape"), file, err);
	if (rc)
		return rc;
	if (t->elem_size == 0 && ls_tensor_count(t) * ls_dtype_bits(t->dtype) % 8)
		return fault(err, file, t->name, "its elements do not end on a whole byte");
	const json_t *off = json_object_get(entry, "data_offsets");
	if (json_array_size(off) != 2 || read_u64(json_array_get(off, 0), &ret->begin) ||
	    read_u64(json_array_get(off, 1), &ret->end))
		return fault(err, file, t->name, "\"data_offsets\" is not a pair of whole numbers");
	if (ret->end < ret->begin || ret->end - ret->begin != t->nbytes)
		return ls_err_set(err, LS_EINPUT,
				  "%s: tensor \"%.200s\": data_offsets [%" PRIu64 ", %" PRIu64
				  "] do not hold the %" PRIu64 " bytes of its dtype and shape",
				  file, t->name, ret->begin, ret->end, t->nbytes);
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

/* The format wants the data section covered once: no hole, no overlap, no bytes after the
 * last tensor. */
static int check_cover(struct span *spans, size_t n, uint64_t size, const struct ls_tensor *tensors,
		       const char *file, struct ls_err *err)
{
	uint64_t at = 0;
	qsort(spans, n, sizeof *spans, by_begin);
	for (size_t i = 0; i < n; i++) {
		const char *name = tensors[spans[i].tensor].name;
		if (spans[i].begin != at)
			return ls_err_set(err, LS_EINPUT,
					  "%s: tensor \"%.200s\" begins at data byte %" PRIu64
					  ", %s byte %" PRIu64,
					  file, name, spans[i].begin,
					  spans[i].begin < at ? "inside another that ends at"
							      : "leaving a hole from",
					  at);
		at = spans[i].end;
		if (at > size)
			return ls_err_set(err, LS_EINPUT,
					  "%s: tensor \"%.200s\" ends at data byte %" PRIu64
					  " but the file has only %" PRIu64 " bytes of data",
					  file, name, at, size);
	}
	if (at != size)
		return ls_err_set(err, LS_EINPUT, "%s: %" PRIu64 " bytes lie after the last tensor",
				  file, size - at);
	return 0;
}

static int add_tensors(struct ls_bundle *b, json_t *header, const uint8_t *data, uint64_t size,
		       const char *file, struct ls_err *err)
{
	size_t n = 0, first = b->n_tensors;
	struct span *spans = ls_alloc_array(json_object_size(header) + 1, sizeof *spans);
	const char *key;
	json_t *value;
	int rc = spans ? 0 : ls_err_set(err, LS_ENOMEM, "%s: no memory", file);
	json_object_foreach(header, key, value)
	{
		if (rc)
			break;
		if (strcmp(key, meta_key) == 0) {
			rc = add_metadata(b, value, file, err);
			continue;
		}
		struct ls_tensor *t = ls_bundle_add(b, key, strlen(key));
		spans[n].tensor = b->n_tensors - 1;
		rc = read_entry(t, value, &spans[n++], file, err);
	}
	if (rc == 0)
		rc = check_cover(spans, n, size, b->tensors, file, err);
	for (size_t i = 0; rc == 0 && i < n; i++)
		b->tensors[spans[i].tensor].data = data + spans[i].begin;
	if (rc)
		b->n_tensors = first;
	free(spans);
	return rc;
}

/* A hostile header must not make the JSON library allocate more than a bounded amount. */
static int check_density(const char *text, size_t len, const char *file, struct ls_err *err)
{
	size_t objects = 0, commas = 0;
	for (size_t i = 0; i < len; i++) {
		objects += text[i] == '{';
		commas += text[i] == ',';
	}
	if (objects > OBJECT_LIMIT || commas > NUMBER_LIMIT)
		return ls_err_set(err, LS_EINPUT, "%s: the header lists more than %d tensors", file,
				  OBJECT_LIMIT);
	return 0;
}

int ls_safetensors_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *name,
			 struct ls_err *err)
{
	uint64_t header_len = 0;
	if (len < 8)
		return ls_err_set(err, LS_EINPUT, "%s: %zu bytes: too short for safetensors", name,
				  len);
	for (int i = 7; i >= 0; i--)
		header_len = header_len << 8 | data[i];
	if (header_len > HEADER_LIMIT)
		return ls_err_set(err, LS_EINPUT,
				  "%s: not safetensors: claims a header of %" PRIu64
				  " bytes; the format allows %d",
				  name, header_len, HEADER_LIMIT);
	if (header_len > len - 8)
		return ls_err_set(err, LS_EINPUT,
				  "%s: claims a header of %" PRIu64
				  " bytes but only %zu follow; the file is cut short",
				  name, header_len, len - 8);
	const char *text = (const char *)data + 8;
	if (header_len == 0 || text[0] != '{')
		return ls_err_set(err, LS_EINPUT, "%s: the header does not begin with \"{\"", name);
	int rc = check_density(text, header_len, name, err);
	json_t *header;
	if (rc || (rc = ls_json_parse(text, header_len, name, &header, err)))
		return rc;
	rc = add_tensors(b, header, data + 8 + header_len, len - 8 - header_len, name, err);
	json_decref(header);
	return rc;
}

int ls_safetensors_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("safetensors");
	struct ls_map map;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0)
		rc = ls_safetensors_parse(b, map.data, map.len, path, err);
	if (rc == 0)
		rc = ls_bundle_seal(b, path, err);
	return ls_bundle_hand_take(b, rc, ret);
}

/* A shard is a plain file name: an index must not lead out of its folder. */
static int check_shard_name(const char *index, const char *shard, struct ls_err *err)
{
	if (!*shard || *shard == '.' || strchr(shard, '/'))
		return ls_err_set(err, LS_EINPUT,
				  "%s: shard \"%.200s\" is not a plain file name; shards must lie "
				  "beside the index",
				  index, shard);
	return 0;
}

/* Checks that the tensors from `first` on are those that the index places into this
 * shard. */
static int check_shard(const struct ls_bundle *b, size_t first, const json_t *weights,
		       const char *shard, const char *index, struct ls_err *err)
{
	for (size_t i = first; i < b->n_tensors; i++) {
		const char *at = json_string_value(json_object_get(weights, b->tensors[i].name));
		if (!at || strcmp(at, shard) != 0)
			return ls_err_set(
				err, LS_EINPUT,
				"%s: tensor \"%.200s\" lies in %.200s, but the index says %.200s",
				index, b->tensors[i].name, shard, at ? at : "nothing of it");
	}
	return 0;
}

static int open_shard(struct ls_bundle *b, const char *index, const char *shard,
		      const json_t *weights, struct ls_err *err)
{
	const char *slash = strrchr(index, '/');
	char *path = ls_xasprintf("%.*s%s", slash ? (int)(slash + 1 - index) : 0, index, shard);
	size_t first = b->n_tensors, values = b->n_values;
	struct ls_map map;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0)
		rc = ls_safetensors_parse(b, map.data, map.len, path, err);
	if (rc == 0)
		rc = check_shard(b, first, weights, shard, index, err);
	b->n_values = values; /* a shard's metadata ("format": "pt") says nothing about the whole */
	free(path);
	return rc;
}

static int open_shards(struct ls_bundle *b, const char *path, json_t *weights, struct ls_err *err)
{
	json_t *seen = json_object();
	const char *name;
	json_t *shard;
	int rc = 0;
	json_object_foreach(weights, name, shard)
	{
		const char *s = json_string_value(shard);
		if (!s)
			rc = ls_err_set(err, LS_EINPUT, "%s: weight_map.%.200s is not a string",
					path, name);
		else if (json_object_get(seen, s))
			continue;
		else if ((rc = check_shard_name(path, s, err)) == 0)
			rc = open_shard(b, path, s, weights, err);
		if (rc)
			break;
		json_object_set_new(seen, s, json_true());
	}
	json_decref(seen);
	if (rc == 0 && b->n_tensors != json_object_size(weights))
		rc = ls_err_set(err, LS_EINPUT,
				"%s: the index lists %zu tensors, its shards hold %zu", path,
				json_object_size(weights), b->n_tensors);
	return rc;
}

int ls_safetensors_open_index(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	json_t *index;
	int rc = ls_json_load(path, &index, err);
	if (rc)
		return rc;
	json_t *weights = json_object_get(index, "weight_map");
	struct ls_bundle *b = ls_bundle_new("safetensors shards");
	if (!json_is_object(weights))
		rc = ls_err_set(err, LS_EINPUT,
				"%s: no object \"weight_map\": not an index of shards", path);
	else
		rc = open_shards(b, path, weights, err);
	if (rc == 0)
		rc = ls_bundle_seal(b, path, err);
	json_decref(index);
	return ls_bundle_hand_take(b, rc, ret);
}

static int describe(json_t *header, const struct ls_tensor *t, uint64_t *at, const char *path,
		    struct ls_err *err)
{
	const char *dtype = ls_dtype_safetensors(t->dtype);
	if (!dtype || !t->data || t->swapped || (!t->elem_size && !ls_tensor_is_contiguous(t)))
		return ls_err_set(err, LS_EINTERNAL,
				  "%s: tensor \"%s\" cannot be written as safetensors", path,
				  t->name);
	json_t *shape = json_array();
	for (int i = 0; i < t->ndim; i++)
		json_array_append_new(shape, json_integer((json_int_t)t->shape[i]));
	json_t *entry = json_pack("{s:s,s:o,s:[I,I]}", "dtype", dtype, "shape", shape,
				  "data_offsets", (json_int_t)*at, (json_int_t)(*at + t->nbytes));
	*at += t->nbytes;
	if (strcmp(t->name, meta_key) == 0 || json_object_get(header, t->name)) {
		json_decref(entry);
		return ls_err_set(err, LS_EINTERNAL, "%s: tensor name \"%s\" is taken", path,
				  t->name);
	}
	if (json_object_set_new(header, t->name, entry))
		return ls_err_set(err, LS_EINTERNAL, "%s: a tensor name is not UTF-8", path);
	return 0;
}

static int make_header(const struct ls_tensor *tensors, size_t n, const struct ls_kv *metadata,
		       size_t n_meta, const char *path, struct ls_str *ret, struct ls_err *err)
{
	json_t *header = json_object();
	uint64_t at = 0;
	int rc = 0;
	if (n_meta) {
		json_t *map = json_object();
		for (size_t i = 0; i < n_meta && rc == 0; i++)
			if (json_object_set_new(map, metadata[i].key,
						json_string(metadata[i].value)))
				rc = ls_err_set(err, LS_EINTERNAL,
						"%s: metadata \"%s\" is not UTF-8", path,
						metadata[i].key);
		json_object_set_new(header, meta_key, map);
	}
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = describe(header, &tensors[i], &at, path, err);
	char *text = rc ? NULL : json_dumps(header, JSON_COMPACT);
	json_decref(header);
	if (rc)
		return rc;
	if (!text)
		return ls_err_set(err, LS_ENOMEM, "%s: no memory for the header", path);
	ls_str_add(ret, text);
	free(text);
	while (ret->len % 8)
		ls_str_add(ret, " ");
	return 0;
}

int ls_safetensors_header(const char *path, const struct ls_tensor *tensors, size_t n,
			  const struct ls_kv *metadata, size_t n_meta, char **ret,
			  struct ls_err *err)
{
	struct ls_str header = {0};
	int rc = make_header(tensors, n, metadata, n_meta, path, &header, err);
	if (rc == 0)
		*ret = ls_str_take(&header);
	ls_str_done(&header);
	return rc;
}

/* Dimension d and those inside it, from data on: as one run where they lie together, else
 * slice by slice. */
static int write_strided(struct ls_writer *w, const struct ls_tensor *t, int d, const uint8_t *data,
			 struct ls_err *err)
{
	uint64_t run = 1;
	bool together = true;
	for (int i = t->ndim - 1; i >= d; i--) {
		together = together && (t->shape[i] == 1 || t->stride[i] == (int64_t)run);
		run *= t->shape[i];
	}
	if (together)
		return ls_writer_write(w, data, run * t->elem_size, err);
	int rc = 0;
	for (uint64_t i = 0; i < t->shape[d] && rc == 0; i++)
		rc = write_strided(w, t, d + 1, data + (int64_t)i * t->stride[d] * t->elem_size,
				   err);
	return rc;
}

static int write_tensor(struct ls_writer *w, const struct ls_tensor *t, struct ls_err *err)
{
	if (ls_tensor_is_contiguous(t))
		return ls_writer_write(w, t->data, t->nbytes, err);
	return write_strided(w, t, 0, t->data, err);
}

static int write_all(struct ls_writer *w, const struct ls_str *header,
		     const struct ls_tensor *tensors, size_t n, struct ls_err *err)
{
	uint8_t length[8];
	for (int i = 0; i < 8; i++)
		length[i] = (uint8_t)((uint64_t)header->len >> (8 * i));
	int rc = ls_writer_write(w, length, sizeof length, err);
	if (rc == 0)
		rc = ls_writer_write(w, header->s, header->len, err);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = write_tensor(w, &tensors[i], err);
	return rc;
}

int ls_safetensors_write(const char *path, const struct ls_tensor *tensors, size_t n,
			 const struct ls_kv *metadata, size_t n_meta, struct ls_file_id *ret_id,
			 struct ls_err *err)
{
	struct ls_str header = {0};
	struct ls_writer *w = NULL;
	int rc = make_header(tensors, n, metadata, n_meta, path, &header, err);
	if (rc == 0)
		rc = ls_writer_open(path, &w, err);
	if (rc == 0) {
		rc = write_all(w, &header, tensors, n, err);
		if (rc)
			ls_writer_abort(w);
		else
			rc = ls_writer_commit_id(w, ret_id, err);
	}
	ls_str_done(&header);
	return rc;
}
