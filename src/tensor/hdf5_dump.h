/* What the process that reads an HDF5 file tells the one that compares: a row of records
 * in a file. The reader of records trusts the writer no more than any other file. */
#ifndef LS_TENSOR_HDF5_DUMP_H
#define LS_TENSOR_HDF5_DUMP_H

#include "tensor/tensor.h"

enum ls_h5_record {
	LS_H5_TENSOR = 'T', /* name, dtype, swapped, ndim (1 byte each), element size (4), shape (8
			       each), place (8), bytes (8); the bytes, if they have no place */
	LS_H5_VALUE = 'V',  /* name, kind (1), number (8), text, a NUL */
	LS_H5_TRAIT = 'R',  /* name, text */
	LS_H5_FAILED = 'X', /* code (1), text: nothing follows */
	LS_H5_END = 'E',
};
/* A name or a text is its length (4) and its bytes. */

#define LS_H5_NO_PLACE UINT64_MAX /* a tensor's bytes follow its record */

/* The file's own image, in which places lie, and that of the records; both outlive the
 * bundle. */
int ls_h5_dump_read(struct ls_bundle *b, const uint8_t *file, size_t file_len, const uint8_t *dump,
		    size_t dump_len, struct ls_err *err);

#endif
