#include "tensor/torch/torch.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "tensor/torch/torch_internal.h"

enum { PICKLE_LIMIT = 256 << 20, CODE_LIMIT = 64 << 20 };

const struct ls_zip_member *ls_torch_pickle_of(const struct ls_zip *zip)
{
	for (size_t i = 0; i < zip->n; i++) {
		const char *slash = strchr(zip->members[i].name, '/');
		if (slash && strcmp(slash, "/data.pkl") == 0)
			return &zip->members[i];
	}
	return NULL;
}

/* Torch of 2016 wrote a tar of four members with these names; each may have a header of
 * extended attributes before it.
 */
bool ls_torch_is_tar(const uint8_t *data, size_t len)
{
	static const char *const members[] = {"sys_info", "pickle", "tensors", "storages"};
	enum { BLOCK = 512, NAME = 100, SIZE = 124, TYPE = 156, MAGIC = 257 };
	for (size_t at = 0; len - at > BLOCK && memcmp(data + at + MAGIC, "ustar", 5) == 0;) {
		const char *head = (const char *)data + at;
		for (size_t i = 0; i < sizeof members / sizeof *members; i++)
			if (strncmp(head, members[i], NAME) == 0)
				return true;
		if (head[TYPE] != 'x' && head[TYPE] != 'g')
			return false;
		uint64_t size = 0;
		for (const char *p = head + SIZE; p < head + SIZE + 11 && *p >= '0' && *p <= '7';
		     p++)
			size = size * 8 + (uint64_t)(*p - '0');
		size = BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK;
		if (size > len - at)
			return false;
		at += size;
	}
	return false;
}

static int check_byteorder(const struct ls_zip *zip, const char *prefix, bool *ret_big,
			   struct ls_err *err)
{
	char *name = ls_xasprintf("%s/byteorder", prefix);
	const struct ls_zip_member *m = ls_zip_find(zip, name);
	free(name);
	*ret_big = false;
	if (!m)
		return 0; /* before torch 2.1: little-endian */
	uint8_t *text = NULL;
	int rc = ls_zip_extract(m, 64, &text, err);
	if (rc)
		return rc;
	*ret_big = m->size == 3 && memcmp(text, "big", 3) == 0;
	bool known = *ret_big || (m->size == 6 && memcmp(text, "little", 6) == 0);
	free(text);
	return known ? 0 : ls_err_set(err, LS_EINPUT, "byteorder is neither little nor big");
}

/* The pickle as it lies in the archive, or inflated into the bundle. */
static int pickle_bytes(struct ls_bundle *b, const struct ls_zip_member *m, const uint8_t **ret,
			struct ls_err *err)
{
	uint8_t *made = NULL;
	if (!m->deflated) {
		*ret = m->data;
		return 0;
	}
	int rc = ls_zip_extract(m, PICKLE_LIMIT, &made, err);
	if (rc == 0)
		*ret = ls_bundle_keep_take(b, made);
	return rc;
}

/* Reads the pickle FOLDER.pkl's tree into the bundle, with storages in FOLDER. */
static int read_pickle(struct ls_bundle *b, const struct ls_zip *zip, const struct ls_zip_member *m,
		       struct ls_torch_data *d, const char *name, struct ls_err *err)
{
	const uint8_t *data = NULL;
	struct ls_pickle *p = NULL;
	d->zip = zip;
	int rc = pickle_bytes(b, m, &data, err);
	if (rc == 0)
		rc = ls_pickle_parse(data, m->size, ls_torch_globals(), &p, err);
	if (rc == 0)
		rc = ls_torch_flatten(b, p, d, name, err);
	ls_pickle_free(p);
	return rc;
}

/* The program of a TorchScript archive, as text that is never run: its own folder,
 * without the tables that lead back to lines of the sources. */
static int read_code(struct ls_bundle *b, const struct ls_zip *zip, const char *prefix,
		     struct ls_err *err)
{
	size_t n = strlen(prefix);
	for (size_t i = 0; i < zip->n; i++) {
		const struct ls_zip_member *m = &zip->members[i];
		uint8_t *text = NULL;
		if (strncmp(m->name, prefix, n) != 0 || strncmp(m->name + n, "/code/", 6) != 0 ||
		    ls_str_ends(m->name, ".debug_pkl"))
			continue;
		int rc = ls_zip_extract(m, CODE_LIMIT, &text, err);
		if (rc)
			return rc;
		struct ls_value *v = ls_bundle_add_value(b, m->name + n + 1,
							 strlen(m->name + n + 1), LS_VAL_BYTES);
		v->text = ls_bundle_keep_take(b, text);
		v->len = m->size;
	}
	return 0;
}

static int read_constants(struct ls_bundle *b, const struct ls_zip *zip, const char *prefix,
			  bool big, struct ls_err *err)
{
	struct ls_torch_data d = {.prefix = prefix, .folder = "constants", .big_endian = big};
	char *name = ls_xasprintf("%s/constants.pkl", prefix);
	const struct ls_zip_member *m = ls_zip_find(zip, name);
	free(name);
	if (!m)
		return 0;
	b->format = "TorchScript";
	int rc = read_pickle(b, zip, m, &d, "constants", err);
	return rc ? rc : read_code(b, zip, prefix, err);
}

static int read_archive(struct ls_bundle *b, const struct ls_zip *zip, const char *name,
			struct ls_err *err)
{
	const struct ls_zip_member *m = ls_torch_pickle_of(zip);
	if (!m)
		return ls_err_set(err, LS_EINPUT,
				  "a zip archive without data.pkl: not a PyTorch checkpoint");
	char *prefix = ls_xstrndup(m->name, (size_t)(strchr(m->name, '/') - m->name));
	struct ls_torch_data d = {.prefix = prefix, .folder = "data"};
	int rc = check_byteorder(zip, prefix, &d.big_endian, err);
	if (rc == 0)
		rc = read_pickle(b, zip, m, &d, name, err);
	if (rc == 0)
		rc = read_constants(b, zip, prefix, d.big_endian, err);
	free(prefix);
	return rc;
}

static int read_legacy(struct ls_bundle *b, const uint8_t *data, size_t len, const char *name,
		       struct ls_err *err)
{
	struct ls_torch_legacy l = {0};
	int rc = ls_torch_legacy_read(data, len, &l, err);
	if (rc == 0) {
		struct ls_torch_data d = {.storages = l.storages, .n_storages = l.n};
		rc = ls_torch_flatten(b, l.object, &d, name, err);
	}
	ls_torch_legacy_done(&l);
	return rc;
}

int ls_torch_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		   const char *name, struct ls_err *err)
{
	int rc;
	if (ls_torch_is_tar(data, len))
		return ls_err_set(
			err, LS_EINPUT,
			"%s: a PyTorch checkpoint in the tar format of 2016; load and "
			"save it once with torch 1.6 or later to have it compared by tensor",
			path);
	if (ls_torch_is_legacy(data, len)) {
		rc = read_legacy(b, data, len, name, err);
	} else {
		struct ls_zip *zip = ls_bundle_keep_zip(b);
		rc = ls_zip_parse(data, len, path, zip, err);
		if (rc)
			return rc;
		rc = read_archive(b, zip, name, err);
	}
	return rc ? ls_err_prefix(err, "%s", path) : 0;
}

int ls_torch_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("PyTorch");
	struct ls_map map;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0)
		rc = ls_torch_parse(b, map.data, map.len, path, "", err);
	if (rc == 0)
		rc = ls_bundle_seal(b, path, err);
	return ls_bundle_hand_take(b, rc, ret);
}

/* Compressions of joblib that are known and not read. */
static const char *unread_compression(const struct ls_map *m)
{
	static const struct {
		const char *magic, *name;
		size_t len;
	} known[] = {{"BZh", "bz2", 3},
		     {"\xfd"
		      "7zXZ",
		      "xz", 5},
		     {"\x5d\0\0", "lzma", 3},
		     {"\x04\x22\x4d\x18", "lz4", 4},
		     {"\x28\xb5\x2f\xfd", "zstd", 4}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (m->len > known[i].len && memcmp(m->data, known[i].magic, known[i].len) == 0)
			return known[i].name;
	return NULL;
}

/* joblib compresses whole files. */
static int unpack(struct ls_bundle *b, struct ls_map *map, struct ls_err *err)
{
	uint8_t *made = NULL;
	bool zlib = map->len > 2 && map->data[0] == 0x78,
	     gzip = map->len > 2 && map->data[0] == 0x1f && map->data[1] == 0x8b;
	const char *other = unread_compression(map);
	if (other)
		return ls_err_set(err, LS_EINPUT,
				  "compressed by %s; zlib and gzip are read: dump it once with "
				  "compress=('zlib', 3)",
				  other);
	if (!zlib && !gzip)
		return 0;
	int rc = ls_unzlib(map->data, map->len, PICKLE_LIMIT, &made, &map->len, err);
	if (rc == 0)
		map->data = ls_bundle_keep_take(b, made);
	return rc;
}

int ls_pickle_read(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		   struct ls_err *err)
{
	struct ls_torch_data none = {.zip = NULL};
	struct ls_pickle *p = NULL;
	int rc = ls_pickle_parse(data, len, ls_torch_globals(), &p, err);
	if (rc == 0 && p->used != len)
		rc = ls_err_set(err, LS_EINPUT, "byte %zu: something follows the pickle", p->used);
	if (rc == 0)
		rc = ls_torch_flatten(b, p, &none, "", err);
	ls_pickle_free(p);
	return rc ? ls_err_prefix(err, "%s", path) : 0;
}

int ls_pickle_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("pickle");
	struct ls_map map;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0)
		rc = unpack(b, &map, err) ? ls_err_prefix(err, "%s", path)
					  : ls_pickle_read(b, map.data, map.len, path, err);
	if (rc == 0)
		rc = ls_bundle_seal(b, path, err);
	return ls_bundle_hand_take(b, rc, ret);
}

/* --- shards --- */

static bool is_mapped(const struct ls_bundle *b, const char *path)
{
	for (size_t i = 0; i < b->n_maps; i++)
		if (strcmp(b->map_paths[i], path) == 0)
			return true;
	return false;
}

static int read_shard(struct ls_bundle *b, const char *index, const char *shard, struct ls_err *err)
{
	if (!*shard || strchr(shard, '/') || strcmp(shard, "..") == 0)
		return ls_err_set(err, LS_EINPUT, "%s: \"%.200s\" is no plain name of a shard",
				  index, shard);
	const char *slash = strrchr(index, '/');
	char *path = ls_xasprintf("%.*s%s", slash ? (int)(slash + 1 - index) : 0, index, shard);
	struct ls_map map;
	int rc = 0;
	if (!is_mapped(b, path)) {
		rc = ls_bundle_map(b, path, &map, err);
		if (rc == 0)
			rc = ls_torch_parse(b, map.data, map.len, path, "", err);
	}
	free(path);
	return rc;
}

/* How a shard's outermost container is made is packaging: a whole file may have an
 * OrderedDict. */
static void drop_outer_trait(struct ls_bundle *b)
{
	size_t kept = 0;
	for (size_t i = 0; i < b->n_traits; i++)
		if (*b->traits[i].name)
			b->traits[kept++] = b->traits[i];
	b->n_traits = kept;
}

int ls_torch_open_index(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	json_t *index = NULL, *weights, *shard;
	const char *key;
	int rc = ls_json_load(path, &index, err);
	if (rc)
		return rc;
	struct ls_bundle *b = ls_bundle_new("PyTorch");
	weights = json_object_get(index, "weight_map");
	if (!json_is_object(weights))
		rc = ls_err_set(err, LS_EINPUT, "%s: has no weight_map", path);
	json_object_foreach(weights, key, shard)
	{
		if (rc == 0 && !json_is_string(shard))
			rc = ls_err_set(err, LS_EINPUT, "%s: \"%.200s\" has no shard", path, key);
		if (rc == 0)
			rc = read_shard(b, path, json_string_value(shard), err);
	}
	drop_outer_trait(b);
	if (rc == 0)
		rc = ls_bundle_seal(b, path, err);
	json_object_foreach(weights, key, shard)
	{
		if (rc == 0 && !ls_bundle_find(b, key))
			rc = ls_err_set(err, LS_EINPUT, "%s: tensor \"%.200s\" is in no shard",
					path, key);
	}
	json_decref(index);
	return ls_bundle_hand_take(b, rc, ret);
}
