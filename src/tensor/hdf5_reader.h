/* The process that reads an HDF5 file through libhdf5 and writes records (hdf5_dump.h).
 * It runs in a sandbox, as the library was not made for files of strangers. Internal; one
 * thread. */
#ifndef LS_TENSOR_HDF5_READER_H
#define LS_TENSOR_HDF5_READER_H

#include <stdio.h>

#include "base/str.h"
#include "tensor/hdf5_dump.h"
#include "tensor/hdf5_lib.h"

enum { LS_H5_DEPTH = 64 };

struct ls_h5_reader {
	struct ls_h5 h5;
	FILE *out;
	struct ls_str path;
	uint64_t on_path[LS_H5_DEPTH]; /* addresses of the groups that lead here */
	int depth;
	size_t records;
	uint64_t budget; /* bytes that may still be unpacked */
	bool failed;     /* a record says why */
};

/* Writes the records of the file at path into out, and what went wrong. file_len: its
 * length. opened: is closed when the file is open. */
void ls_h5_read(const char *path, uint64_t file_len, int out, int opened);

/* Each returns 0, or 1 after a failure, as the library's iterators want it. */
int ls_h5_fail(struct ls_h5_reader *r, const char *what);
int ls_h5_count(struct ls_h5_reader *r); /* one more record */
int ls_h5_dataset(struct ls_h5_reader *r, int64_t dataset);
int ls_h5_attribute(struct ls_h5_reader *r, int64_t attribute);

/* unknown: the machine cannot tell, as without the library. */
void ls_h5_put_failure(struct ls_h5_reader *r, bool unknown, const char *text);
void ls_h5_put_name(struct ls_h5_reader *r);
void ls_h5_put_number(struct ls_h5_reader *r, uint64_t n, unsigned size);
void ls_h5_put_text(struct ls_h5_reader *r, const char *s, size_t n);
int ls_h5_put_trait(struct ls_h5_reader *r, const char *text);
int ls_h5_put_value(struct ls_h5_reader *r, enum ls_value_kind kind, uint64_t number,
		    const char *text, size_t n);

#endif
