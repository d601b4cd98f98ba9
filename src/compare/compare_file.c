/* Two files: what format they have, and the comparison that it allows. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "compare/compare_internal.h"
#include "tensor/gguf.h"
#include "tensor/hdf5.h"
#include "tensor/mat.h"
#include "tensor/msgpack.h"
#include "tensor/npy.h"
#include "tensor/onnx.h"
#include "tensor/safetensors.h"
#include "tensor/tf_checkpoint.h"
#include "tensor/tfevents.h"
#include "tensor/torch/dcp.h"
#include "tensor/torch/torch.h"
#include "tensor/zip.h"

enum { NOTEBOOK_LIMIT = 64 << 20 }; /* larger ones are compared as JSON, leaf by leaf */

enum format {
	BYTES,
	SAFETENSORS,
	INDEX,
	NPY,
	NPZ,
	TORCH,
	BIN_INDEX,
	DCP,
	PICKLE,
	GGUF,
	HDF5,
	KERAS,
	EVENTS,
	MAT,
	MSGPACK,
	TF_CHECKPOINT,
	TF_FINGERPRINT,
	ONNX,
	JSON,
	NOTEBOOK,
	YAML,
	JSONL,
	CSV,
	TSV
};

static const char *const format_names[] = {
	[BYTES] = "bytes",
	[SAFETENSORS] = "safetensors",
	[INDEX] = "safetensors shards",
	[NPY] = "npy",
	[NPZ] = "npz",
	[TORCH] = "PyTorch",
	[BIN_INDEX] = "PyTorch shards",
	[DCP] = "torch DCP",
	[PICKLE] = "pickle",
	[GGUF] = "GGUF",
	[HDF5] = "HDF5",
	[KERAS] = "Keras",
	[EVENTS] = "TensorBoard",
	[MAT] = "MATLAB",
	[MSGPACK] = "MessagePack",
	[TF_CHECKPOINT] = "TensorFlow checkpoint",
	[TF_FINGERPRINT] = "SavedModel fingerprint",
	[ONNX] = "ONNX",
	[JSON] = "JSON",
	[NOTEBOOK] = "notebook",
	[YAML] = "YAML",
	[JSONL] = "JSON lines",
	[CSV] = "CSV",
	[TSV] = "TSV",
};

static bool ends(const char *path, const char *suffix)
{
	size_t n = strlen(path), m = strlen(suffix);
	return n >= m && strcasecmp(path + n - m, suffix) == 0;
}

static enum format by_name(const char *path)
{
	static const struct {
		const char *suffix;
		enum format format;
	} names[] = {{".safetensors.index.json", INDEX},
		     {".safetensors", SAFETENSORS},
		     {".bin.index.json", BIN_INDEX},
		     {".pkl", PICKLE},
		     {".pickle", PICKLE},
		     {".joblib", PICKLE},
		     {".npy", NPY},
		     {".npz", NPZ},
		     {".gguf", GGUF},
		     {".h5", HDF5},
		     {".hdf5", HDF5},
		     {".keras", KERAS},
		     {".msgpack", MSGPACK},
		     {".onnx", ONNX},
		     {".json", JSON},
		     {".ipynb", NOTEBOOK},
		     {".yaml", YAML},
		     {".yml", YAML},
		     {".jsonl", JSONL},
		     {".ndjson", JSONL},
		     {".csv", CSV},
		     {".tsv", TSV}};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (ends(path, names[i].suffix))
			return names[i].format;
	return BYTES;
}

/* A zip archive is a checkpoint, an .npz, or just bytes; a damaged one is what its name
 * says. */
static enum format zip_format(const char *path, const struct ls_map *m)
{
	struct ls_zip zip;
	enum format f = BYTES;
	if (ls_zip_parse(m->data, m->len, path, &zip, NULL))
		return ends(path, ".keras") ? KERAS
		       : ends(path, ".npz") ? NPZ
		       : ends(path, ".zip") ? BYTES
					    : TORCH;
	if (ls_torch_pickle_of(&zip))
		f = TORCH;
	else if (ls_keras_is(&zip))
		f = KERAS;
	for (size_t i = 0; f == BYTES && i < zip.n; i++)
		if (ends(zip.members[i].name, ".npy"))
			f = NPZ;
	ls_zip_done(&zip);
	if (f == BYTES && ends(path, ".npz"))
		f = NPZ; /* an empty one */
	return f;
}

static bool looks_like_safetensors(const struct ls_map *m)
{
	uint64_t header = 0;
	for (size_t i = 8; m->len > 9 && i-- > 0;)
		header = header << 8 | m->data[i];
	return header > 1 && header <= m->len - 8 && header < 100000000 && m->data[8] == '{' &&
	       m->data[9] == '"';
}

/* Protocols 2 to 5 begin with their number, and every pickle ends with STOP. */
static bool looks_like_pickle(const struct ls_map *m)
{
	return m->len > 3 && m->data[0] == 0x80 && m->data[1] >= 2 && m->data[1] <= 5 &&
	       m->data[m->len - 1] == '.';
}

static bool is_named(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	return strcmp(slash ? slash + 1 : path, name) == 0;
}

static enum format format_of(const char *path, const struct ls_map *m)
{
	if (m->len >= 4 && memcmp(m->data, "PK\3\4", 4) == 0)
		return zip_format(path, m);
	if (m->len >= 6 && memcmp(m->data, "\x93NUMPY", 6) == 0)
		return NPY;
	if (ls_torch_is_legacy(m->data, m->len) || ls_torch_is_tar(m->data, m->len))
		return TORCH;
	if (m->len >= 4 && memcmp(m->data, "GGUF", 4) == 0)
		return GGUF;
	if (ls_hdf5_is(m->data, m->len))
		return HDF5;
	if (ls_mat_is(m->data, m->len))
		return MAT;
	if (ls_tfevents_is(m->data, m->len))
		return EVENTS;
	if (ls_tf_index_is(m->data, m->len))
		return TF_CHECKPOINT;
	if (is_named(path, "fingerprint.pb"))
		return TF_FINGERPRINT;
	if (looks_like_pickle(m))
		return is_named(path, ".metadata") ? DCP : PICKLE;
	enum format named = by_name(path);
	return named == BYTES && looks_like_safetensors(m) ? SAFETENSORS : named;
}

static int open_hdf5(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	int rc = ls_hdf5_open(path, ret, err);
	if (rc == 0)
		ls_keras_expand(*ret);
	return rc;
}

static int open_bundle(enum format f, const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	switch (f) {
	case SAFETENSORS:
		return ls_safetensors_open(path, ret, err);
	case INDEX:
		return ls_safetensors_open_index(path, ret, err);
	case NPY:
		return ls_npy_open(path, ret, err);
	case NPZ:
		return ls_npz_open(path, ret, err);
	case TORCH:
		return ls_torch_open(path, ret, err);
	case BIN_INDEX:
		return ls_torch_open_index(path, ret, err);
	case DCP:
		return ls_dcp_open(path, ret, err);
	case PICKLE:
		return ls_pickle_open(path, ret, err);
	case GGUF:
		return ls_gguf_open(path, ret, err);
	case HDF5:
		return open_hdf5(path, ret, err);
	case KERAS:
		return ls_keras_open(path, ret, err);
	case MAT:
		return ls_mat_open(path, ret, err);
	case MSGPACK:
		return ls_msgpack_open(path, ret, err);
	case EVENTS:
		return ls_tfevents_open(path, ret, err);
	case TF_CHECKPOINT:
		return ls_tf_checkpoint_open(path, ret, err);
	case TF_FINGERPRINT:
		return ls_tf_fingerprint_open(path, ret, err);
	default:
		return ls_onnx_open(path, ret, err);
	}
}

static bool holds_tensors(enum format f)
{
	return f >= SAFETENSORS && f <= ONNX;
}

int ls_cmp_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_map map;
	int rc = ls_file_map(path, &map, err);
	if (rc)
		return rc;
	enum format f = format_of(path, &map);
	ls_file_unmap(&map);
	if (!holds_tensors(f))
		return ls_err_set(err, LS_EINPUT,
				  "%s: not a file of tensors, by its first bytes and name", path);
	return open_bundle(f, path, ret, err);
}

/* Forgets what a comparison by value had found before it failed. */
static void clear(struct ls_cmp_file *f)
{
	ls_cmp_items_done(f);
	f->differs = f->whole = false;
	f->ignored = f->unread = 0;
	f->tensors = f->tensors_differ = f->values = f->values_differ = f->columns =
		f->columns_differ = f->bytes = 0;
}

int ls_cmp_bytes(const struct ls_map *a, const struct ls_map *b, const struct ls_cmp_options *opt,
		 struct ls_cmp_file *f, struct ls_err *err)
{
	struct ls_tensor t[2] = {
		{.name = "bytes", .dtype = LS_DT_U8, .elem_size = 1, .data = a->data},
		{.name = "bytes", .dtype = LS_DT_U8, .elem_size = 1, .data = b->data}};
	uint64_t common = a->len < b->len ? a->len : b->len;
	struct ls_pair pair = {.a = &t[0], .b = &t[1]};
	int rc = ls_tensor_set_contiguous(&t[0], &common, 1, err);
	if (rc == 0)
		rc = ls_tensor_set_contiguous(&t[1], &common, 1, err);
	if (rc == 0)
		rc = ls_pairs_run(&pair, 1, opt, f->name, err);
	if (rc)
		return rc;
	f->format = format_names[BYTES];
	f->whole = true;
	f->bytes = a->len + b->len;
	if (a->len == b->len && pair.stats.differing == 0)
		return 0;
	struct ls_cmp_item *item = ls_cmp_add(
		f, LS_CMP_BYTES, a->len == b->len ? LS_CMP_DIFFERS : LS_CMP_SIZE, "bytes");
	item->dtype = LS_DT_U8;
	ls_cmp_set_stats(item, &pair.stats);
	item->a = ls_xasprintf("%zu bytes", a->len);
	item->b = ls_xasprintf("%zu bytes", b->len);
	item->first =
		ls_xasprintf("byte %" PRIu64, pair.stats.differing ? pair.stats.first : common);
	return 0;
}

/* Every save of a SavedModel draws one. */
static bool is_uuid(const char *name)
{
	return strcmp(name, "uuid") == 0;
}

static int compare_bundles(const char *a, enum format fa, const char *b, enum format fb,
			   const struct ls_cmp_options *opt, struct ls_cmp_file *f,
			   struct ls_err *err)
{
	struct ls_bundle *x = NULL, *y = NULL;
	int rc = open_bundle(fa, a, &x, err);
	if (rc == 0)
		rc = open_bundle(fb, b, &y, err);
	if (rc == 0)
		rc = ls_cmp_bundles(x, y, opt, f, err);
	if (rc == 0 && f->tensors + f->values + f->ignored == 0 && !f->differs)
		rc = ls_err_set(err, LS_EINPUT, "%s: holds no tensor and no value", a);
	else if (rc == LS_EINPUT && x && y)
		ls_err_prefix(err, "%s or %s", a,
			      b); /* damage that shows only when the data is read */
	if (rc == 0 && fa == TF_FINGERPRINT && fb == fa)
		ls_cmp_mark_own(f, is_uuid);
	ls_bundle_free(x);
	ls_bundle_free(y);
	return rc;
}

static int compare_maps(enum format fa, enum format fb, const struct ls_map *a,
			const struct ls_map *b, const struct ls_cmp_options *opt,
			struct ls_cmp_file *f, struct ls_err *err)
{
	if (fa == fb && fa == NOTEBOOK && a->len <= NOTEBOOK_LIMIT && b->len <= NOTEBOOK_LIMIT)
		return ls_cmp_notebooks(a, b, opt, f, err);
	if (fa == fb && (fa == JSON || fa == NOTEBOOK))
		return ls_cmp_json(a, b, opt, f, err);
	if (fa == fb && fa == YAML)
		return ls_cmp_yaml(a, b, opt, f, err);
	if (fa == fb && fa == JSONL)
		return ls_cmp_jsonl(a, b, opt, f, err);
	if (fa == fb && (fa == CSV || fa == TSV))
		return ls_cmp_csv(a, b, fa == CSV ? ',' : '\t', opt, f, err);
	return ls_cmp_bytes(a, b, opt, f, err);
}

/* By value where both formats allow it. */
static int compare_by_format(const char *a, enum format fa, const struct ls_map *ma, const char *b,
			     enum format fb, const struct ls_map *mb,
			     const struct ls_cmp_options *opt, struct ls_cmp_file *f,
			     struct ls_err *err)
{
	if (holds_tensors(fa) && holds_tensors(fb))
		return compare_bundles(a, fa, b, fb, opt, f, err);
	return compare_maps(fa, fb, ma, mb, opt, f, err);
}

/* Files that say little themselves: what they stand for lies in others. */
static bool is_index(enum format f)
{
	return f == INDEX || f == BIN_INDEX || f == DCP || f == TF_CHECKPOINT;
}

/* Files whose contents are all in themselves; an ONNX model may name others, too. */
static bool is_self_contained(enum format f)
{
	return holds_tensors(f) && !is_index(f) && f != ONNX;
}

static void note_bytes(struct ls_cmp_file *f, const struct ls_err *why)
{
	free(f->note);
	f->note = ls_xasprintf("compared as bytes: %.900s", why->msg);
}

/* Two files of the same bytes are identical, also where they cannot be read; they are
 * read for their number of tensors and values. */
static void count_same(enum format format, const char *path, const struct ls_map *m,
		       const struct ls_cmp_options *opt, struct ls_cmp_file *f)
{
	struct ls_bundle *b = NULL;
	struct ls_err why = {0};
	if (open_bundle(format, path, &b, &why)) {
		f->format = format_names[BYTES];
		f->whole = true;
		f->bytes = 2 * m->len;
		note_bytes(f, &why);
		return;
	}
	ls_cmp_count(b, opt, f);
	ls_bundle_free(b);
}

static int compare_mapped(const char *a, const struct ls_map *ma, const char *b,
			  const struct ls_map *mb, bool strict, const struct ls_cmp_options *opt,
			  struct ls_cmp_file *f, struct ls_err *err)
{
	enum format fa = format_of(a, ma), fb = format_of(b, mb);
	struct ls_err why = {0};
	f->format = fa == fb || holds_tensors(fa) ? format_names[fa] : format_names[BYTES];
	if (is_self_contained(fa) && fa == fb && ls_pairs_same_bytes(ma, mb, opt, f->name)) {
		count_same(fa, a, ma, opt, f);
		return 0;
	}
	int rc = compare_by_format(a, fa, ma, b, fb, mb, opt, f, &why);
	if (rc == LS_EUNKNOWN ||
	    (rc == LS_EINPUT && (!strict || !(holds_tensors(fa) && holds_tensors(fb))))) {
		clear(f);
		rc = ls_cmp_bytes(ma, mb, opt, f, &why);
		note_bytes(f, &why);
		if (is_index(fa))
			f->unread++; /* its own bytes say nothing about the shards */
	}
	if (rc == 0 && opt->own && f->differs)
		ls_cmp_own(opt->own, ma, mb, f);
	return rc ? ls_err_set(err, rc, "%s", why.msg) : 0;
}

int ls_cmp_file(const char *a, const char *b, bool strict, const struct ls_cmp_options *opt,
		struct ls_cmp_file *f, struct ls_err *err)
{
	struct ls_map ma = {0}, mb = {0};
	int rc = ls_file_map(a, &ma, err);
	if (rc)
		return rc;
	rc = ls_file_map(b, &mb, err);
	if (rc == 0) {
		rc = compare_mapped(a, &ma, b, &mb, strict, opt, f, err);
		ls_file_unmap(&mb);
	}
	ls_file_unmap(&ma);
	return rc;
}
