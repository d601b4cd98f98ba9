/* A model as an ONNX file. The result owns its texts (ls_export_result_done). Any thread;
 * the model is only read. */
#ifndef LS_FM_EXPORT_EXPORT_H
#define LS_FM_EXPORT_EXPORT_H

#include "base/digest.h"
#include "base/err.h"
#include "fm/export/params.h"

/* Protobuf's limit, beyond which parameters go to a file of their own. */
#define LS_ONNX_MOST ((uint64_t)1 << 31)

struct ls_export_opts {
	uint64_t external_above; /* bytes of the whole file; at most LS_ONNX_MOST */
};

struct ls_export_result {
	uint64_t bytes, data_bytes; /* of the file; of the parameters' file, or 0 */
	char *data_path;            /* of the parameters' file, or NULL */
	char digest[LS_SHA256_HEX]; /* of the model */
};

/* path: what the file will be called; at: where it is written to, in the same folder.
 *
 * The parameters' file is complete before the model's that names it. Its name has the
 * model's digest, so that no model that is there already comes to name other
 * parameters. */
int ls_export_onnx(const struct ls_params *p, const char *path, const char *at,
		   const struct ls_export_opts *o, struct ls_export_result *ret,
		   struct ls_err *err);
/* How large the file would be with its parameters inside. */
uint64_t ls_export_bytes(const struct ls_params *p);
void ls_export_result_done(struct ls_export_result *r);

#endif
