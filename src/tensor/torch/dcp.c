#include "tensor/torch/dcp.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "tensor/torch/torch_internal.h"

struct reader {
	const struct ls_pickle *p;
	struct ls_dcp_index *index;
	struct ls_err *err;
};

/* The attributes of an object, or NULL. */
static const struct ls_pk_node *attributes(const struct reader *r, const struct ls_pk_node *n)
{
	const struct ls_pk_node *s = n && n->kind == LS_PK_CALL && n->c ? &r->p->nodes[n->c] : NULL;
	return s && s->kind == LS_PK_DICT ? s : NULL;
}

static const struct ls_pk_node *attribute(const struct reader *r, const struct ls_pk_node *n,
					  const char *name)
{
	return ls_pickle_get(r->p, attributes(r, n), name);
}

static bool is_text(const struct ls_pk_node *n)
{
	return n && n->kind == LS_PK_STR && n->n && !memchr(n->s, 0, n->n);
}

/* A torch.Size's tuple, or NULL. */
static const struct ls_pk_node *tuple_of(const struct reader *r, const struct ls_pk_node *n)
{
	if (n && n->kind == LS_PK_CALL && r->p->nodes[n->b].n == 1)
		n = &r->p->nodes[r->p->nodes[n->b].items[0]];
	return n && n->kind == LS_PK_TUPLE && n->n <= LS_MAX_DIMS ? n : NULL;
}

/* Adds "[4, 0]" for the shard that begins there. */
static bool add_offset(const struct reader *r, const struct ls_pk_node *offset, struct ls_str *s)
{
	const struct ls_pk_node *t = tuple_of(r, offset);
	ls_str_add(s, "[");
	for (size_t i = 0; t && i < t->n; i++) {
		const struct ls_pk_node *x = &r->p->nodes[t->items[i]];
		if (x->kind != LS_PK_INT)
			return false;
		ls_str_addf(s, "%s%" PRId64, i ? ", " : "", x->i);
	}
	ls_str_add(s, "]");
	return t != NULL;
}

/* How many shards a tensor has; 1 for a value, 0 for what is neither. */
static size_t count_shards(const struct reader *r, const struct ls_pk_node *entry)
{
	const struct ls_pk_node *chunks = attribute(r, entry, "chunks");
	if (chunks)
		return chunks->kind == LS_PK_LIST ? chunks->n : 0;
	return entry->kind == LS_PK_CALL;
}

/* Where one piece is: MetadataIndex(fqn, offset) -> _StorageInfo(relative_path, offset,
 * length). */
static int read_piece(struct reader *r, const struct ls_pk_node *entries,
		      const struct ls_pk_node *key, const struct ls_pk_node *where)
{
	const struct ls_pk_node *fqn = attribute(r, key, "fqn");
	const struct ls_pk_node *file = attribute(r, where, "relative_path"),
				*offset = attribute(r, where, "offset"),
				*length = attribute(r, where, "length");
	if (!is_text(fqn) || !is_text(file) || !offset || offset->kind != LS_PK_INT ||
	    offset->i < 0 || !length || length->kind != LS_PK_INT || length->i < 0)
		return ls_err_set(r->err, LS_EINPUT, "an entry without name, file or place");
	char *name = ls_xstrndup(fqn->s, fqn->n);
	const struct ls_pk_node *entry = ls_pickle_get(r->p, entries, name);
	struct ls_str text = {0};
	ls_str_add(&text, name);
	free(name);
	bool good = entry && (count_shards(r, entry) == 1 ||
			      add_offset(r, attribute(r, key, "offset"), &text));
	r->index->pieces =
		ls_grow(r->index->pieces, r->index->n, &r->index->cap, sizeof *r->index->pieces);
	r->index->pieces[r->index->n++] =
		(struct ls_dcp_piece){ls_str_take(&text), ls_xstrndup(file->s, file->n),
				      (uint64_t)offset->i, (uint64_t)length->i};
	return good ? 0
		    : ls_err_set(r->err, LS_EINPUT, "\"%.200s\" is not described",
				 r->index->pieces[r->index->n - 1].name);
}

/* Every shard that is described must be somewhere. */
static int check_count(struct reader *r, const struct ls_pk_node *entries)
{
	size_t want = 0;
	for (size_t i = 0; i + 1 < entries->n; i += 2)
		want += count_shards(r, &r->p->nodes[entries->items[i + 1]]);
	if (want == r->index->n)
		return 0;
	return ls_err_set(r->err, LS_EINPUT, "describes %zu shards, but says where %zu are", want,
			  r->index->n);
}

static int read_pieces(struct reader *r)
{
	const struct ls_pk_node *root = &r->p->nodes[r->p->root];
	const struct ls_pk_node *entries = attribute(r, root, "state_dict_metadata"),
				*places = attribute(r, root, "storage_data");
	int rc = 0;
	if (!entries || entries->kind != LS_PK_DICT || !places || places->kind != LS_PK_DICT)
		return ls_err_set(r->err, LS_EINPUT,
				  "not the .metadata of a distributed checkpoint");
	for (size_t i = 0; rc == 0 && i + 1 < places->n; i += 2)
		rc = read_piece(r, entries, &r->p->nodes[places->items[i]],
				&r->p->nodes[places->items[i + 1]]);
	return rc ? rc : check_count(r, entries);
}

/* The path of each name through the program's dicts and lists, as values about the
 * packaging. */
static int read_structure(struct ls_bundle *b, struct ls_pickle *p, struct ls_err *err)
{
	struct reader r = {p, NULL, err};
	struct ls_torch_data none = {.zip = NULL};
	const struct ls_pk_node *paths = attribute(&r, &p->nodes[p->root], "planner_data");
	size_t first = b->n_values, traits = b->n_traits;
	if (!paths || paths->kind != LS_PK_DICT)
		return 0;
	p->root = (uint32_t)(paths - p->nodes);
	int rc = ls_torch_flatten(b, p, &none, "planner_data", err);
	for (size_t i = first; i < b->n_values; i++)
		b->values[i].meta = true;
	b->n_traits = traits;
	return rc;
}

int ls_dcp_read_index(struct ls_bundle *b, const uint8_t *data, size_t len,
		      struct ls_dcp_index *ret, struct ls_err *err)
{
	struct ls_pickle *p = NULL;
	int rc = ls_pickle_parse(data, len, ls_torch_globals(), &p, err);
	if (rc)
		return rc;
	struct reader r = {p, ret, err};
	rc = read_pieces(&r);
	if (rc == 0)
		rc = read_structure(b, p, err);
	ls_pickle_free(p);
	return rc;
}

void ls_dcp_index_done(struct ls_dcp_index *index)
{
	for (size_t i = 0; i < index->n; i++) {
		free(index->pieces[i].name);
		free(index->pieces[i].file);
	}
	free(index->pieces);
	*index = (struct ls_dcp_index){0};
}

static int open_piece(struct ls_bundle *b, const char *metadata, const struct ls_dcp_piece *piece,
		      struct ls_err *err)
{
	if (strchr(piece->file, '/') || strcmp(piece->file, "..") == 0)
		return ls_err_set(err, LS_EINPUT, "%s: \"%.200s\" is no plain name of a file",
				  metadata, piece->file);
	const char *slash = strrchr(metadata, '/');
	char *path = ls_xasprintf("%.*s%s", slash ? (int)(slash + 1 - metadata) : 0, metadata,
				  piece->file);
	struct ls_map map;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0 && (piece->offset > map.len || piece->length > map.len - piece->offset))
		rc = ls_err_set(err, LS_EINPUT, "%s: ends before \"%.200s\"", path, piece->name);
	if (rc == 0)
		rc = ls_torch_parse(b, map.data + piece->offset, piece->length, path, piece->name,
				    err);
	free(path);
	return rc;
}

int ls_dcp_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("torch DCP");
	struct ls_dcp_index index = {0};
	struct ls_map map;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0 && (rc = ls_dcp_read_index(b, map.data, map.len, &index, err)))
		ls_err_prefix(err, "%s", path);
	for (size_t i = 0; i < index.n && rc == 0; i++)
		rc = open_piece(b, path, &index.pieces[i], err);
	ls_dcp_index_done(&index);
	if (rc == 0)
		rc = ls_bundle_seal(b, path, err);
	return ls_bundle_hand_take(b, rc, ret);
}
