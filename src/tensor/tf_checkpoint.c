#include "tensor/tf_checkpoint.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "tensor/bytes.h"
#include "tensor/proto.h"

/* An index is a sorted table: blocks of keys and values, a block that says where those
 * are, and a footer that says where that one is. */
enum { FOOTER = 48, TRAILER = 5, MAGIC_BYTES = 8 };
enum { SHARD_LIMIT = 1 << 16, ENTRY_LIMIT = 1 << 20, NAME_LIMIT = 1 << 14 };
static const uint8_t magic[MAGIC_BYTES] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};

/* Numbers of fields in the messages BundleHeaderProto, BundleEntryProto and
 * TensorShapeProto. */
enum { SHARDS = 1, ENDIANNESS = 2 };
enum { DTYPE = 1, SHAPE = 2, SHARD = 3, OFFSET = 4, SIZE = 5, CRC = 6, SLICES = 7 };
enum { DIM = 2, DIM_SIZE = 1 };
enum { STRING = 7 };

static const enum ls_dtype dtypes[] = {
	[1] = LS_DT_F32,        [2] = LS_DT_F64,          [3] = LS_DT_I32,
	[4] = LS_DT_U8,         [5] = LS_DT_I16,          [6] = LS_DT_I8,
	[8] = LS_DT_C64,        [9] = LS_DT_I64,          [10] = LS_DT_BOOL,
	[11] = LS_DT_I8,        [12] = LS_DT_U8,          [13] = LS_DT_I32,
	[14] = LS_DT_BF16,      [15] = LS_DT_I16,         [16] = LS_DT_U16,
	[17] = LS_DT_U16,       [18] = LS_DT_C128,        [19] = LS_DT_F16,
	[22] = LS_DT_U32,       [23] = LS_DT_U64,         [24] = LS_DT_F8_E5M2,
	[25] = LS_DT_F8_E4M3FN, [26] = LS_DT_F8_E4M3FNUZ, [28] = LS_DT_F8_E5M2FNUZ,
};

struct checkpoint {
	struct ls_bundle *b;
	const uint8_t *data;
	size_t len, entries;
	uint64_t seen; /* bytes of blocks */
	const char *path;
	const struct ls_map *shards;
	size_t n_shards;
	uint64_t told_shards; /* by the header */
	struct ls_err *err;
};

/* What an entry of the index says of a tensor. */
struct entry {
	uint64_t dtype, shard, offset, size;
	uint64_t shape[LS_MAX_DIMS];
	size_t ndim;
	bool sliced;
};

typedef int visit_fn(struct checkpoint *c, const struct ls_str *key, const uint8_t *value,
		     size_t len);

static int wrong(const struct checkpoint *c, const char *name, const char *what)
{
	return ls_err_set(c->err, LS_EINPUT, "%s: \"%.200s\": %s", c->path, name, what);
}

/* --- the table --- */

static int open_block(struct checkpoint *c, uint64_t offset, uint64_t size, struct ls_bytes *ret)
{
	if (offset > c->len || size > c->len - offset || c->len - offset - size < TRAILER)
		return wrong(c, "index", "a block outside of the file");
	if ((c->seen += size + TRAILER) > c->len)
		return wrong(c, "index", "blocks that share bytes");
	const uint8_t *p = c->data + offset;
	struct ls_bytes crc = {.data = p + size + 1, .len = 4};
	if (ls_masked_crc(p, (size_t)size + 1) != ls_bytes_u32(&crc))
		return wrong(c, "index", "a block with another checksum than it says");
	if (p[size])
		return ls_err_set(c->err, LS_EUNKNOWN, "%s: a compressed index is not read",
				  c->path);
	struct ls_bytes end = {.data = p + size - 4, .len = 4};
	uint64_t restarts = size < 4 ? UINT64_MAX : ls_bytes_u32(&end);
	if (restarts > (size - 4) / 4)
		return wrong(c, "index", "a block without its restarts");
	*ret = (struct ls_bytes){.data = p, .len = (size_t)(size - 4 - 4 * restarts)};
	return 0;
}

static bool take_varint(struct ls_bytes *in, uint64_t *ret)
{
	const uint8_t *p = in->data + in->at;
	size_t left = ls_bytes_left(in);
	bool good = ls_varint(&p, &left, ret);
	in->at = in->len - left;
	return good;
}

/* A key is written as what it adds to the beginning of the one before. */
static int next_entry(const struct checkpoint *c, struct ls_bytes *in, struct ls_str *key,
		      const uint8_t **ret, uint64_t *ret_len)
{
	uint64_t shared = 0, added = 0;
	const uint8_t *tail = NULL;
	*ret = NULL;
	if (take_varint(in, &shared) && take_varint(in, &added) && take_varint(in, ret_len)) {
		tail = ls_bytes_take(in, added);
		*ret = tail ? ls_bytes_take(in, *ret_len) : NULL;
	}
	if (!*ret || shared > key->len || shared + added > NAME_LIMIT)
		return wrong(c, key->len ? key->s : "index", "an entry behind it that is damaged");
	key->len = (size_t)shared;
	ls_str_add_bytes(key, tail, (size_t)added);
	return 0;
}

static int each_entry(struct checkpoint *c, uint64_t offset, uint64_t size, visit_fn *visit)
{
	struct ls_bytes in = {0};
	struct ls_str key = {0};
	int rc = open_block(c, offset, size, &in);
	while (rc == 0 && ls_bytes_left(&in)) {
		const uint8_t *value = NULL;
		uint64_t len = 0;
		if (++c->entries > ENTRY_LIMIT)
			rc = wrong(c, "index", "more entries than a model has");
		if (rc == 0)
			rc = next_entry(c, &in, &key, &value, &len);
		if (rc == 0)
			rc = visit(c, &key, value, (size_t)len);
	}
	ls_str_done(&key);
	return rc;
}

static bool take_handle(struct ls_bytes *in, uint64_t *ret_offset, uint64_t *ret_size)
{
	return take_varint(in, ret_offset) && take_varint(in, ret_size);
}

static visit_fn visit_tensor, visit_header;

static int visit_block(struct checkpoint *c, const uint8_t *value, size_t len, visit_fn *visit)
{
	struct ls_bytes in = {.data = value, .len = len};
	uint64_t offset = 0, size = 0;
	if (!take_handle(&in, &offset, &size))
		return wrong(c, "index", "a block that is nowhere");
	return each_entry(c, offset, size, visit);
}

static int tensors_of_block(struct checkpoint *c, const struct ls_str *key, const uint8_t *value,
			    size_t len)
{
	(void)key; /* behind the block's last */
	return visit_block(c, value, len, visit_tensor);
}

static int header_of_block(struct checkpoint *c, const struct ls_str *key, const uint8_t *value,
			   size_t len)
{
	(void)key;
	return c->told_shards ? 0 : visit_block(c, value, len, visit_header);
}

static int each_block(struct checkpoint *c, visit_fn *visit)
{
	uint64_t offset = 0, size = 0;
	if (!ls_tf_index_is(c->data, c->len))
		return wrong(c, "index", "the footer is not that of TensorFlow's index");
	struct ls_bytes in = {.data = c->data + c->len - FOOTER, .len = FOOTER - MAGIC_BYTES};
	if (!take_handle(&in, &offset, &size) || !take_handle(&in, &offset, &size))
		return wrong(c, "index", "a footer without its places");
	return each_entry(c, offset, size, visit);
}

/* --- what the entries say --- */

/* The header stands under the empty name, which sorts first. */
static int visit_header(struct checkpoint *c, const struct ls_str *key, const uint8_t *value,
			size_t len)
{
	struct ls_field f;
	if (key->len || c->told_shards)
		return 0;
	while (len) {
		if (!ls_field_next(&value, &len, &f))
			return wrong(c, "header", "cannot be read");
		if (f.number == SHARDS && f.wire == LS_WIRE_VARINT)
			c->told_shards = f.value;
		if (f.number == ENDIANNESS && f.value)
			return ls_err_set(c->err, LS_EUNKNOWN,
					  "%s: the most significant byte first is not read",
					  c->path);
	}
	return 0;
}

static bool read_dim(const uint8_t *p, size_t left, uint64_t *ret)
{
	struct ls_field f;
	*ret = 0;
	while (left) {
		if (!ls_field_next(&p, &left, &f))
			return false;
		if (f.number == DIM_SIZE && f.wire == LS_WIRE_VARINT)
			*ret = f.value;
	}
	return true;
}

static bool read_shape(const uint8_t *p, size_t left, struct entry *e)
{
	struct ls_field f;
	while (left) {
		if (!ls_field_next(&p, &left, &f))
			return false;
		if (f.number != DIM || f.wire != LS_WIRE_BYTES)
			continue;
		if (e->ndim == LS_MAX_DIMS || !read_dim(f.data, f.len, &e->shape[e->ndim++]))
			return false;
	}
	return true;
}

static bool read_entry(const uint8_t *p, size_t left, struct entry *e)
{
	struct ls_field f;
	uint64_t *const numbers[] = {[DTYPE] = &e->dtype,
				     [SHARD] = &e->shard,
				     [OFFSET] = &e->offset,
				     [SIZE] = &e->size,
				     [CRC] = NULL};
	while (left) {
		if (!ls_field_next(&p, &left, &f))
			return false;
		if (f.number == SHAPE && f.wire == LS_WIRE_BYTES && !read_shape(f.data, f.len, e))
			return false;
		e->sliced |= f.number == SLICES;
		if (f.number < sizeof numbers / sizeof *numbers && numbers[f.number] &&
		    f.wire == LS_WIRE_VARINT)
			*numbers[f.number] = f.value;
	}
	return true;
}

/* --- tensors --- */

static void add_text(struct checkpoint *c, const char *name, const uint8_t *s, size_t len)
{
	struct ls_value *v = ls_bundle_add_value(c->b, name, strlen(name), LS_VAL_BYTES);
	v->text = (const char *)s;
	v->len = len;
}

/* Texts: the length of each, a checksum of the lengths, then all of them. */
static int add_texts(struct checkpoint *c, const char *name, const struct entry *e,
		     struct ls_bytes in)
{
	uint64_t n = 1, len = 0;
	for (size_t i = 0; i < e->ndim; i++)
		if (__builtin_mul_overflow(n, e->shape[i], &n))
			n = UINT64_MAX;
	if (n > in.len || (c->entries += (size_t)n) > ENTRY_LIMIT)
		return wrong(c, name, "more texts than it has bytes, or than a model has");
	struct ls_bytes lengths = in;
	for (uint64_t i = 0; i < n; i++)
		if (!take_varint(&in, &len))
			return wrong(c, name, "texts without their lengths");
	ls_bytes_take(&in, 4);
	for (uint64_t i = 0; i < n; i++) {
		take_varint(&lengths, &len);
		const uint8_t *s = ls_bytes_take(&in, len);
		if (!s)
			return wrong(c, name, "a text beyond the end");
		char *full = e->ndim ? ls_xasprintf("%s.%" PRIu64, name, i) : ls_xstrdup(name);
		add_text(c, full, s, (size_t)len);
		free(full);
	}
	return ls_bytes_left(&in) ? wrong(c, name, "bytes behind its texts") : 0;
}

static int add_tensor(struct checkpoint *c, const char *name, const struct entry *e,
		      const uint8_t *data)
{
	enum ls_dtype dtype =
		e->dtype < sizeof dtypes / sizeof *dtypes ? dtypes[e->dtype] : LS_DT_NONE;
	if (dtype == LS_DT_NONE)
		return ls_err_set(c->err, LS_EUNKNOWN,
				  "%s: \"%.200s\": type %" PRIu64
				  " of TensorFlow is not known to this version",
				  c->path, name, e->dtype);
	struct ls_tensor *t = ls_bundle_add(c->b, name, strlen(name));
	t->dtype = dtype;
	t->elem_size = ls_dtype_bits(dtype) / 8;
	t->data = data;
	int rc = ls_tensor_set_contiguous(t, e->shape, e->ndim, c->err);
	return rc || t->nbytes == e->size ? rc : wrong(c, name, "a shape that is not its size");
}

/* Keras and tf.train.Checkpoint say of each variable which of its attributes this is. */
static char *name_of(const struct ls_str *key)
{
	static const char tail[] = "/.ATTRIBUTES/VARIABLE_VALUE";
	size_t n = key->len, m = sizeof tail - 1;
	if (n > m && memcmp(key->s + n - m, tail, m) == 0)
		n -= m;
	return ls_xstrndup(key->s, n);
}

/* qint8 is not int8, and texts are values, which have no shape of their own. */
static void add_type(struct checkpoint *c, const char *name, const struct entry *e)
{
	struct ls_str type = {0};
	ls_str_addf(&type, "type %" PRIu64 " of TensorFlow", e->dtype);
	for (size_t i = 0; e->dtype == STRING && i < e->ndim; i++)
		ls_str_addf(&type, "%s%" PRIu64, i ? " x " : ", ", e->shape[i]);
	ls_bundle_add_trait(c->b, name, type.s);
	ls_str_done(&type);
}

static int add_entry(struct checkpoint *c, const char *name, const struct entry *e)
{
	if (e->sliced)
		return ls_err_set(c->err, LS_EUNKNOWN,
				  "%s: \"%.200s\": partitioned variables are not read", c->path,
				  name);
	if (e->shard >= c->n_shards)
		return wrong(c, name, "in a shard that does not exist");
	const struct ls_map *m = &c->shards[e->shard];
	if (e->offset > m->len || e->size > m->len - e->offset)
		return wrong(c, name, "its shard ends before it");
	struct ls_bytes in = {.data = m->data + e->offset, .len = (size_t)e->size};
	add_type(c, name, e);
	return e->dtype == STRING ? add_texts(c, name, e, in) : add_tensor(c, name, e, in.data);
}

static int visit_tensor(struct checkpoint *c, const struct ls_str *key, const uint8_t *value,
			size_t len)
{
	struct entry e = {0};
	if (key->len == 0)
		return 0;
	if (memchr(key->s, 0, key->len))
		return ls_err_set(c->err, LS_EUNKNOWN, "%s: partitioned variables are not read",
				  c->path);
	char *name = name_of(key);
	int rc = read_entry(value, len, &e) ? add_entry(c, name, &e)
					    : wrong(c, name, "an entry that cannot be read");
	free(name);
	return rc;
}

/* --- files --- */

bool ls_tf_index_is(const uint8_t *data, size_t len)
{
	return len >= FOOTER && memcmp(data + len - MAGIC_BYTES, magic, MAGIC_BYTES) == 0;
}

int ls_tf_checkpoint_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
			   const struct ls_map *shards, size_t n_shards, struct ls_err *err)
{
	struct checkpoint c = {.b = b, .data = data, .len = len, .path = path, .shards = shards};
	c.n_shards = n_shards;
	c.err = err;
	int rc = each_block(&c, tensors_of_block);
	return rc ? rc : ls_bundle_seal(b, path, err);
}

static int count_shards(const struct ls_map *m, const char *path, size_t *ret, struct ls_err *err)
{
	struct checkpoint c = {.data = m->data, .len = m->len, .path = path, .err = err};
	int rc = each_block(&c, header_of_block);
	if (rc == 0 && (c.told_shards == 0 || c.told_shards > SHARD_LIMIT))
		rc = wrong(&c, "header", "no number of shards, or one beyond 65536");
	*ret = (size_t)c.told_shards;
	return rc;
}

size_t ls_tf_shards(const struct ls_map *index)
{
	size_t n = 0;
	return count_shards(index, "", &n, NULL) ? 0 : n;
}

char *ls_tf_shard_name(const char *index, size_t stem, size_t i, size_t n)
{
	return ls_xasprintf("%.*s.data-%05zu-of-%05zu", (int)stem, index, i, n);
}

static int map_shards(struct ls_bundle *b, const char *path, struct ls_map *shards, size_t n,
		      struct ls_err *err)
{
	size_t stem = strlen(path) - (ls_str_ends(path, ".index") ? strlen(".index") : 0);
	int rc = 0;
	for (size_t i = 0; i < n && rc == 0; i++) {
		char *name = ls_tf_shard_name(path, stem, i, n);
		rc = ls_bundle_map(b, name, &shards[i], err);
		free(name);
	}
	return rc;
}

int ls_tf_checkpoint_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("TensorFlow checkpoint");
	struct ls_map map, *shards = NULL;
	size_t n = 0;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0)
		rc = count_shards(&map, path, &n, err);
	if (rc == 0) {
		shards = ls_xalloc(n * sizeof *shards);
		rc = map_shards(b, path, shards, n, err);
	}
	if (rc == 0)
		rc = ls_tf_checkpoint_parse(b, map.data, map.len, path, shards, n, err);
	free(shards);
	return ls_bundle_hand_take(b, rc, ret);
}

/* --- fingerprints --- */

static void add_number(struct ls_bundle *b, const char *name, uint64_t n)
{
	char *text = ls_bundle_keep_take(b, ls_xasprintf("%" PRIu64, n));
	struct ls_value *v = ls_bundle_add_value(b, name, strlen(name), LS_VAL_INT);
	v->i = (int64_t)n;
	v->text = n > INT64_MAX ? text : NULL;
	v->len = n > INT64_MAX ? strlen(text) : 0;
}

int ls_tf_fingerprint_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
			    struct ls_err *err)
{
	static const char *const names[] = {NULL,
					    "saved_model_checksum",
					    "graph_def_program_hash",
					    "signature_def_hash",
					    "saved_object_graph_hash",
					    "checkpoint_hash",
					    "version",
					    "uuid"};
	struct ls_field f;
	while (len) {
		if (!ls_field_next(&data, &len, &f))
			return ls_err_set(err, LS_EINPUT, "%s: not a fingerprint", path);
		bool known = f.number && f.number < sizeof names / sizeof *names;
		char *name = known ? ls_xstrdup(names[f.number])
				   : ls_xasprintf("field %" PRIu64, f.number);
		if (f.wire == LS_WIRE_BYTES) {
			struct checkpoint c = {.b = b};
			add_text(&c, name, f.data, f.len);
		} else {
			add_number(b, name, f.value);
		}
		free(name);
	}
	return ls_bundle_seal(b, path, err);
}

int ls_tf_fingerprint_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("SavedModel fingerprint");
	struct ls_map map;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0)
		rc = ls_tf_fingerprint_parse(b, map.data, map.len, path, err);
	return ls_bundle_hand_take(b, rc, ret);
}
