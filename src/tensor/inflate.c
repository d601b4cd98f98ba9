/* A zip member's bytes in order: straight from the archive, or through zlib in pieces of
 * any size.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "tensor/zip.h"

struct ls_inflater {
	const struct ls_zip_member *m;
	uint64_t in, out; /* bytes taken from the member, bytes given */
	uLong crc;
	z_stream z;
};

struct ls_inflater *ls_inflater_new(const struct ls_zip_member *m)
{
	struct ls_inflater *in = ls_xalloc(sizeof *in);
	in->m = m;
	in->crc = crc32(0, NULL, 0);
	int rc = m->deflated ? inflateInit2(&in->z, -MAX_WBITS) : Z_OK;
	if (rc == Z_VERSION_ERROR)
		ls_give_up("the zlib here is not of the version that this program was built for");
	if (rc != Z_OK)
		ls_no_memory(); /* of 40 KiB */
	return in;
}

void ls_inflater_free(struct ls_inflater *in)
{
	if (!in)
		return;
	if (in->m->deflated)
		inflateEnd(&in->z);
	free(in);
}

static int damaged(const struct ls_inflater *in, const char *what, struct ls_err *err)
{
	return ls_err_set(err, LS_EINPUT, "member \"%.200s\": %s after %" PRIu64 " bytes",
			  in->m->name, what, in->out);
}

static uInt at_most(uint64_t n)
{
	return n > 1u << 30 ? 1u << 30 : (uInt)n;
}

static int inflate_some(struct ls_inflater *in, uint8_t *buf, size_t len, struct ls_err *err)
{
	z_stream *z = &in->z;
	z->next_out = buf;
	for (size_t left = len; left;) {
		uInt give = at_most(in->m->packed - in->in), room = at_most(left);
		z->next_in = (Bytef *)(uintptr_t)(in->m->data + in->in);
		z->avail_in = give;
		z->avail_out = room;
		int rc = inflate(z, Z_NO_FLUSH);
		in->in += give - z->avail_in;
		left -= room - z->avail_out;
		if (rc == Z_STREAM_END && left)
			return damaged(in, "the compressed data ends too early", err);
		if (rc != Z_OK && rc != Z_STREAM_END)
			return damaged(in,
				       rc == Z_BUF_ERROR ? "the compressed data is cut short"
							 : "damaged compressed data",
				       err);
	}
	return 0;
}

/* Once all promised bytes are out the stream must be at its end too. */
static int check_end(struct ls_inflater *in, struct ls_err *err)
{
	uint8_t extra;
	if (in->m->deflated) {
		in->z.next_in = (Bytef *)(uintptr_t)(in->m->data + in->in);
		in->z.avail_in = at_most(in->m->packed - in->in);
		in->z.next_out = &extra;
		in->z.avail_out = 1;
		if (inflate(&in->z, Z_NO_FLUSH) != Z_STREAM_END || in->z.avail_out == 0)
			return damaged(in, "the compressed data does not end", err);
	}
	if ((uint32_t)in->crc != in->m->crc)
		return damaged(in, "the checksum is wrong", err);
	return 0;
}

int ls_inflater_read(struct ls_inflater *in, void *buf, size_t len, struct ls_err *err)
{
	if (len > in->m->size - in->out)
		return damaged(in, "more is wanted than the member holds", err);
	if (len == 0)
		return 0;
	if (!in->m->deflated)
		memcpy(buf, in->m->data + in->out, len);
	else {
		int rc = inflate_some(in, buf, len, err);
		if (rc)
			return rc;
	}
	in->crc = crc32_z(in->crc, buf, len);
	in->out += len;
	return in->out == in->m->size ? check_end(in, err) : 0;
}

int ls_zip_extract(const struct ls_zip_member *m, uint64_t limit, uint8_t **ret, struct ls_err *err)
{
	if (m->size > limit)
		return ls_err_set(err, LS_EINPUT,
				  "member \"%.200s\": %" PRIu64 " bytes; at most %" PRIu64
				  " are read",
				  m->name, m->size, limit);
	uint8_t *buf = ls_alloc_array(m->size + 1, 1);
	if (!buf)
		return ls_err_set(err, LS_ENOMEM,
				  "member \"%.200s\": no memory for %" PRIu64 " bytes", m->name,
				  m->size);
	struct ls_inflater *in = ls_inflater_new(m);
	int rc = ls_inflater_read(in, buf, m->size, err);
	ls_inflater_free(in);
	if (rc)
		free(buf);
	else
		*ret = buf;
	return rc;
}

/* Takes what the stream gives until it ends; grows the block as it comes. */
static int inflate_all(z_stream *z, uint64_t limit, uint8_t **block, size_t *ret_len,
		       struct ls_err *err)
{
	size_t have = 0, cap = 1 << 16;
	for (int rc = Z_OK; rc != Z_STREAM_END;) {
		if (have == cap && cap >= limit)
			return ls_err_set(err, LS_EINPUT,
					  "compressed data of more than %" PRIu64 " bytes", limit);
		cap = have == cap ? cap * 2 : cap;
		uint8_t *grown = ls_xrealloc(*block, cap);
		*block = grown;
		z->next_out = grown + have;
		z->avail_out = at_most(cap - have);
		rc = inflate(z, Z_NO_FLUSH);
		have = (size_t)(z->next_out - grown);
		if (rc != Z_OK && rc != Z_STREAM_END)
			return ls_err_set(err, LS_EINPUT,
					  "compressed data is damaged after %zu bytes", have);
	}
	*ret_len = have;
	return 0;
}

int ls_unzlib(const uint8_t *data, size_t len, uint64_t limit, uint8_t **ret, size_t *ret_len,
	      struct ls_err *err)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = at_most(len)};
	if (inflateInit2(&z, MAX_WBITS + 32) != Z_OK) /* the header says which of the two */
		ls_no_memory();
	uint8_t *block = NULL;
	int rc = inflate_all(&z, limit, &block, ret_len, err);
	inflateEnd(&z);
	if (rc)
		free(block);
	else
		*ret = block;
	return rc;
}
