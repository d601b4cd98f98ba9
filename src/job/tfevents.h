/* Scalars of TensorBoard's event files: TFRecords with a checksum each, which hold
 * protocol buffers. Nothing in the file is trusted: lengths and checksums are checked
 * before use. Any thread. */
#ifndef LS_JOB_TFEVENTS_H
#define LS_JOB_TFEVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "job/points.h"

/* Adds the scalars. *ret_whole is how many bytes are whole records: less than len where
 * the last one is being written or was cut. Messages have the byte; wrong checksums are
 * LS_EINPUT. */
int ls_tfevents_read(const uint8_t *data, size_t len, struct ls_points *p, size_t *ret_whole,
		     struct ls_err *err);

#endif
