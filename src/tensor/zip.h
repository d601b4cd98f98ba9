/* Zip archives in memory: central directory (also ZIP64), stored and deflated members.
 * Names are never used as paths. The archive borrows the image; ls_zip_done frees the
 * member list. An inflater is one thread's; the rest any thread's.
 */
#ifndef LS_TENSOR_ZIP_H
#define LS_TENSOR_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ls_zip_member {
	char *name;
	const uint8_t *data; /* as it lies in the archive */
	uint64_t packed;     /* bytes in the archive */
	uint64_t size;       /* bytes once inflated; equal to packed when stored */
	uint32_t crc;
	bool deflated;
};

struct ls_zip {
	struct ls_zip_member *members;
	size_t n;
	char *name; /* of the archive, for messages */
};

/* Checks the whole directory: bounds, sizes, local headers, names (no "..", no absolute
 * path, no twins), no overlap, no encryption, and that no member claims more than deflate
 * can hold or looks like a bomb. */
int ls_zip_parse(const uint8_t *data, size_t len, const char *name, struct ls_zip *ret,
		 struct ls_err *err);
void ls_zip_done(struct ls_zip *zip);
const struct ls_zip_member *ls_zip_find(const struct ls_zip *zip, const char *name);

/* A member's bytes in order, in as many pieces as wanted. For stored members too. */
struct ls_inflater;
struct ls_inflater *ls_inflater_new(const struct ls_zip_member *m);
void ls_inflater_free(struct ls_inflater *in);
/* Fills buf with exactly len bytes. Wrong data, a wrong length and, at the end, a wrong
 * checksum are errors. */
int ls_inflater_read(struct ls_inflater *in, void *buf, size_t len, struct ls_err *err);

/* The whole member, at most limit bytes; the caller frees *ret. */
int ls_zip_extract(const struct ls_zip_member *m, uint64_t limit, uint8_t **ret,
		   struct ls_err *err);

/* A whole stream of zlib or gzip, at most limit bytes; the caller frees *ret. */
int ls_unzlib(const uint8_t *data, size_t len, uint64_t limit, uint8_t **ret, size_t *ret_len,
	      struct ls_err *err);

#endif
