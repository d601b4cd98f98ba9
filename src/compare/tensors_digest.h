/* The digest of named tensors: the same for the same names, types, shapes and bits,
 * whatever file, order or memory they come from (docs/FORMATS.md, "The tensors' digest").
 * A tensor is read while it is added. ls_tensors_digest_free accepts NULL. One thread at a
 * time an object. */
#ifndef LS_COMPARE_TENSORS_DIGEST_H
#define LS_COMPARE_TENSORS_DIGEST_H

#include "base/digest.h"
#include "tensor/tensor.h"

struct ls_tensors_digest;

struct ls_tensors_digest *ls_tensors_digest_new(void);
void ls_tensors_digest_free(struct ls_tensors_digest *d);
/* Fails when compressed data turn out to be damaged. */
int ls_tensors_digest_add(struct ls_tensors_digest *d, const struct ls_tensor *t,
			  struct ls_err *err);
/* LS_EINPUT: a name occurs twice, or nothing was added. */
int ls_tensors_digest_final(struct ls_tensors_digest *d, char ret_hex[LS_SHA256_HEX],
			    struct ls_err *err);

/* Of all tensors of a file that compare reads by tensor. LS_EINPUT: it is none, or has
 * none. */
int ls_tensors_digest_file(const char *path, char ret_hex[LS_SHA256_HEX], struct ls_err *err);

#endif
