/* A tensor's elements in row-major order, packed and little-endian, whatever the file's
 * strides, byte order or compression. The cursor borrows the tensor; ls_cursor_free
 * accepts NULL. One thread at a time an object. */
#ifndef LS_TENSOR_CURSOR_H
#define LS_TENSOR_CURSOR_H

#include "tensor/tensor.h"

/* True when t->data is already what a cursor would give, all t->nbytes of it. */
bool ls_tensor_is_plain(const struct ls_tensor *t);

struct ls_cursor;
struct ls_cursor *ls_cursor_new(const struct ls_tensor *t);
void ls_cursor_free(struct ls_cursor *c);
/* The next len bytes, whole elements only. Fails when compressed data turns out to be
 * damaged. */
int ls_cursor_read(struct ls_cursor *c, void *buf, size_t len, struct ls_err *err);

#endif
