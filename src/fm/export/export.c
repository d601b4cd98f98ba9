#include "fm/export/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "fm/export/exact.h"
#include "fm/export/float_graph.h"
#include "fm/export/proto.h"
#include "fm/model/tensors.h"
#include "num/num.h"

/* Field numbers of onnx.proto. */
enum {
	MODEL_IR = 1,
	MODEL_PRODUCER = 2,
	MODEL_PRODUCER_VERSION = 3,
	MODEL_DOC = 6,
	MODEL_GRAPH = 7,
	MODEL_OPSET = 8,
	MODEL_METADATA = 14,
	GRAPH_NAME = 2,
	TENSOR_RAW = 9,
	TENSOR_EXTERNAL = 13,
	TENSOR_LOCATION = 14,
	EXTERNAL = 1,
	PAIR_KEY = 1,
	PAIR_VALUE = 2,
	OPSET_VERSION = 2,
};

/* --- the file around the parameters --- */

static void add_pair(struct ls_str *to, uint32_t field, const char *key, const char *value)
{
	struct ls_str pair = {0};
	ls_proto_text(&pair, PAIR_KEY, key);
	ls_proto_text(&pair, PAIR_VALUE, value);
	ls_proto_message_take(to, field, &pair);
}

static void add_pair_take(struct ls_str *to, uint32_t field, const char *key, char *value)
{
	add_pair(to, field, key, value);
	free(value);
}

static void add_metadata(struct ls_str *to, const struct ls_params *p, const char *digest)
{
	const struct ls_fm_model *m = p->m;
	add_pair(to, MODEL_METADATA, "lockstep.digest", digest);
	add_pair(to, MODEL_METADATA, "lockstep.kind", ls_fm_kind_of(&m->opts));
	add_pair(to, MODEL_METADATA, "lockstep.task", ls_fm_task_name(m->opts.task));
	add_pair(to, MODEL_METADATA, "lockstep.form", ls_export_form_name(p->form));
	add_pair_take(to, MODEL_METADATA, "lockstep.features",
		      ls_xasprintf("%" PRIu64, m->n_features));
	add_pair_take(to, MODEL_METADATA, "lockstep.fields", ls_xasprintf("%u", m->n_fields));
	add_pair_take(to, MODEL_METADATA, "lockstep.numerics_version",
		      ls_xasprintf("%d", LS_NUMERICS_VERSION));
}

static void add_model_head(struct ls_str *to, const struct ls_params *p, const char *digest)
{
	struct ls_str opset = {0};
	ls_proto_int(to, MODEL_IR, LS_ONNX_IR);
	ls_proto_text(to, MODEL_PRODUCER, "lockstep");
	ls_proto_text(to, MODEL_PRODUCER_VERSION, LS_VERSION);
	ls_proto_text(to, MODEL_DOC,
		      "index and value: an entry of a row each; an index that the model does not "
		      "have, such as -1, pads a row");
	ls_proto_int(&opset, OPSET_VERSION, LS_ONNX_OPSET);
	ls_proto_message_take(to, MODEL_OPSET, &opset);
	add_metadata(to, p, digest);
}

/* A parameter's TensorProto up to its bytes. location: the file that has them from
 * `offset` on, or NULL. */
static void add_tensor_head(struct ls_str *to, const struct ls_weights *w, const char *location,
			    uint64_t offset)
{
	for (size_t i = 0; i < w->n_dims; i++)
		ls_proto_int(to, LS_TENSOR_DIMS, w->dims[i]);
	ls_proto_int(to, LS_TENSOR_TYPE, w->type);
	ls_proto_text(to, LS_TENSOR_NAME, w->name);
	if (!location) {
		ls_proto_head(to, TENSOR_RAW, ls_weights_bytes(w));
		return;
	}
	add_pair(to, TENSOR_EXTERNAL, "location", location);
	add_pair_take(to, TENSOR_EXTERNAL, "offset", ls_xasprintf("%" PRIu64, offset));
	add_pair_take(to, TENSOR_EXTERNAL, "length", ls_xasprintf("%" PRIu64, ls_weights_bytes(w)));
	ls_proto_int(to, TENSOR_LOCATION, EXTERNAL);
}

/* --- writing --- */

/* What of a file is there before its parameters: the model's fields, the graph's, and of
 * each parameter the beginning of its field. */
struct parts {
	struct ls_str model, graph, head[LS_WEIGHTS];
	uint64_t graph_bytes; /* with the parameters */
};

static void parts_done(struct parts *f)
{
	ls_str_done(&f->model);
	ls_str_done(&f->graph);
	for (size_t i = 0; i < LS_WEIGHTS; i++)
		ls_str_done(&f->head[i]);
}

/* Parameters of the parameters' file begin at multiples of this, as they are mapped. */
enum { ALIGN = 4096 };

static uint64_t aligned(uint64_t offset)
{
	return (offset + ALIGN - 1) / ALIGN * ALIGN;
}

static void make_parts(struct parts *f, const struct ls_params *p, const char *digest,
		       const char *location)
{
	uint64_t offset = 0;
	struct ls_graph g = {.prefix = ""};
	*f = (struct parts){.graph_bytes = 0};
	add_model_head(&f->model, p, digest);
	(p->form == LS_EXPORT_EXACT ? ls_exact_graph : ls_float_graph)(&g, p);
	ls_proto_text(&f->graph, GRAPH_NAME, "lockstep-fm");
	ls_str_add_bytes(&f->graph, g.inputs.s, g.inputs.len);
	ls_str_add_bytes(&f->graph, g.proto.s, g.proto.len);
	ls_graph_done(&g);
	f->graph_bytes = f->graph.len;
	for (size_t i = 0; i < p->n; i++) {
		struct ls_str body = {0};
		uint64_t inside = location ? 0 : ls_weights_bytes(&p->list[i]);
		add_tensor_head(&body, &p->list[i], location, offset);
		ls_proto_head(&f->head[i], LS_GRAPH_INITIALIZER, body.len + inside);
		ls_str_add_bytes(&f->head[i], body.s, body.len);
		ls_str_done(&body);
		f->graph_bytes += f->head[i].len + inside;
		offset = aligned(offset + ls_weights_bytes(&p->list[i]));
	}
	ls_proto_head(&f->model, MODEL_GRAPH, f->graph_bytes);
}

enum { CHUNK = 1 << 20 };

static int write_weights(struct ls_writer *w, const struct ls_params *p,
			 const struct ls_weights *of, struct ls_err *err)
{
	uint64_t each = of->row_bytes < CHUNK ? CHUNK / of->row_bytes : 1;
	uint8_t *chunk = ls_alloc_array(each, of->row_bytes);
	int rc = 0;
	if (!chunk)
		return ls_err_set(err, LS_ENOMEM, "no memory for %" PRIu64 " bytes of a row",
				  of->row_bytes);
	for (uint64_t row = 0; row < of->rows && rc == 0; row += each) {
		uint64_t n = of->rows - row < each ? of->rows - row : each;
		for (uint64_t i = 0; i < n && of->row; i++)
			of->row(p, row + i, chunk + i * of->row_bytes);
		rc = ls_writer_write(w, chunk, n * of->row_bytes, err);
	}
	free(chunk);
	return rc;
}

static int write_model(struct ls_writer *w, const struct parts *f, const struct ls_params *p,
		       bool inside, struct ls_err *err)
{
	int rc = ls_writer_write(w, f->model.s, f->model.len, err);
	if (rc == 0)
		rc = ls_writer_write(w, f->graph.s, f->graph.len, err);
	for (size_t i = 0; i < p->n && rc == 0; i++) {
		rc = ls_writer_write(w, f->head[i].s, f->head[i].len, err);
		if (rc == 0 && inside)
			rc = write_weights(w, p, &p->list[i], err);
	}
	return rc;
}

static int write_data(struct ls_writer *w, const struct ls_params *p, uint64_t *ret_bytes,
		      struct ls_err *err)
{
	static const uint8_t zeros[ALIGN];
	uint64_t at = 0;
	int rc = 0;
	for (size_t i = 0; i < p->n && rc == 0; i++) {
		rc = ls_writer_write(w, zeros, aligned(at) - at, err);
		if (rc == 0)
			rc = write_weights(w, p, &p->list[i], err);
		at = aligned(at) + ls_weights_bytes(&p->list[i]);
	}
	*ret_bytes = at;
	return rc;
}

static int finish(struct ls_writer *w, int rc, struct ls_err *err)
{
	if (rc == 0)
		return ls_writer_commit(w, err);
	ls_writer_abort(w);
	return rc;
}

static int write_data_file(const struct ls_params *p, struct ls_export_result *ret,
			   struct ls_err *err)
{
	struct ls_writer *w;
	int rc = ls_writer_open(ret->data_path, &w, err);
	return rc ? rc : finish(w, write_data(w, p, &ret->data_bytes, err), err);
}

static int write_file(const char *path, const struct parts *f, const struct ls_params *p,
		      struct ls_export_result *ret, struct ls_err *err)
{
	struct ls_writer *w;
	int rc = ls_writer_open(path, &w, err);
	ret->bytes = f->model.len + f->graph_bytes;
	return rc ? rc : finish(w, write_model(w, f, p, !ret->data_path, err), err);
}

/* The parameters' file lies beside the model's, where that really is. */
static int name_data_file(const char *path, enum ls_export_form form, struct ls_export_result *ret,
			  struct ls_err *err)
{
	struct stat st;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return ls_err_set(err, LS_EINPUT,
				  "%s: is no regular file, and the model's parameters need a file "
				  "beside it",
				  path);
	char *real = ls_file_follow(path);
	ret->data_path =
		ls_xasprintf("%s.%.16s-%s.data", real, ret->digest, ls_export_form_name(form));
	free(real);
	return 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

uint64_t ls_export_bytes(const struct ls_params *p)
{
	char digest[LS_SHA256_HEX] = {0};
	struct parts f;
	memset(digest, '0', sizeof digest - 1);
	make_parts(&f, p, digest, NULL);
	uint64_t bytes = f.model.len + f.graph_bytes;
	parts_done(&f);
	return bytes;
}

static int write_all(const struct ls_params *p, const char *path, const char *at,
		     const struct ls_export_opts *o, struct ls_export_result *ret,
		     struct ls_err *err)
{
	struct parts f;
	int rc = 0;
	make_parts(&f, p, ret->digest, NULL);
	if (f.model.len + f.graph_bytes >= o->external_above) {
		rc = name_data_file(path, p->form, ret, err);
		parts_done(&f);
		if (rc == 0)
			make_parts(&f, p, ret->digest, base_name(ret->data_path));
		if (rc == 0)
			rc = write_data_file(p, ret, err);
	}
	if (rc == 0)
		rc = write_file(at, &f, p, ret, err);
	parts_done(&f);
	return rc;
}

int ls_export_onnx(const struct ls_params *p, const char *path, const char *at,
		   const struct ls_export_opts *o, struct ls_export_result *ret, struct ls_err *err)
{
	struct ls_export_result r = {0};
	uint64_t saved = ls_fp_enter();
	ls_fm_model_digest(p->m, r.digest);
	int rc = write_all(p, path, at, o, &r, err);
	ls_fp_leave(saved);
	if (rc)
		ls_export_result_done(&r);
	else
		*ret = r;
	return rc;
}

void ls_export_result_done(struct ls_export_result *r)
{
	free(r->data_path);
	r->data_path = NULL;
}
