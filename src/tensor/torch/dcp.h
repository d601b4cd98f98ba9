/* torch's distributed checkpoints: a folder with .metadata, a pickle that says where each
 * tensor or value lies, and *.distcp, in which each is an archive of torch.save. A tensor
 * that several processes hold is compared shard by shard: "w[4, 0]" begins at row 4. The
 * caller frees what it is given. Any thread. */
#ifndef LS_TENSOR_TORCH_DCP_H
#define LS_TENSOR_TORCH_DCP_H

#include "tensor/tensor.h"

/* One tensor, shard or value. */
struct ls_dcp_piece {
	char *name, *file; /* file: a plain name within the folder */
	uint64_t offset, length;
};

struct ls_dcp_index {
	struct ls_dcp_piece *pieces;
	size_t n, cap;
};

/* Reads the image of a .metadata. The bundle, which must keep the image, gets what it
 * says of the structure as values about the packaging. */
int ls_dcp_read_index(struct ls_bundle *b, const uint8_t *data, size_t len,
		      struct ls_dcp_index *ret, struct ls_err *err);
void ls_dcp_index_done(struct ls_dcp_index *index);
/* path: the folder's .metadata */
int ls_dcp_open(const char *path, struct ls_bundle **ret, struct ls_err *err);

#endif
