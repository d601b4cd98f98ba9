#include "tensor/zip.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	END_SIG = 0x06054b50,
	END64_SIG = 0x06064b50,
	LOCATOR_SIG = 0x07064b50,
	ENTRY_SIG = 0x02014b50,
	LOCAL_SIG = 0x04034b50,
	END_SIZE = 22,
	END64_SIZE = 56,
	LOCATOR_SIZE = 20,
	ENTRY_SIZE = 46,
	LOCAL_SIZE = 30,
	MEMBER_LIMIT = 1 << 19,
	DEFLATE_RATIO = 1032,  /* no deflate stream unfolds further */
	BOMB_RATIO = 200,      /* a member that unfolds further than this … */
	BOMB_SIZE = 256 << 20, /* … and beyond this many bytes is refused */
};

struct image {
	const uint8_t *data;
	size_t len;
	const char *name;
	struct ls_err *err;
};

struct directory {
	uint64_t at, size, count;
};

static uint16_t u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t u32(const uint8_t *p)
{
	return (uint32_t)u16(p) | (uint32_t)u16(p + 2) << 16;
}

static uint64_t u64(const uint8_t *p)
{
	return (uint64_t)u32(p) | (uint64_t)u32(p + 4) << 32;
}

static int bad(const struct image *im, uint64_t at, const char *what)
{
	return ls_err_set(im->err, LS_EINPUT, "%s: byte %" PRIu64 ": %s", im->name, at, what);
}

static int bad_member(const struct image *im, const char *member, const char *what)
{
	return ls_err_set(im->err, LS_EINPUT, "%s: member \"%.200s\": %s", im->name, member, what);
}

/* The end record is the last one whose comment reaches exactly to the end of the file. */
static int find_end(const struct image *im, size_t *ret)
{
	if (im->len < END_SIZE)
		return bad(im, 0, "too short for a zip archive");
	size_t last = im->len - END_SIZE, first = last > 0xffff ? last - 0xffff : 0;
	for (size_t at = last + 1; at-- > first;)
		if (u32(im->data + at) == END_SIG &&
		    at + END_SIZE + u16(im->data + at + 20) == im->len) {
			*ret = at;
			return 0;
		}
	return bad(im, im->len,
		   "no zip directory at the end; the file is cut short or not a zip archive");
}

static int read_end64(const struct image *im, size_t end, struct directory *ret)
{
	if (end < LOCATOR_SIZE + END64_SIZE || u32(im->data + end - LOCATOR_SIZE) != LOCATOR_SIG)
		return 0; /* plain zip */
	uint64_t at = u64(im->data + end - LOCATOR_SIZE + 8);
	if (at > end - LOCATOR_SIZE - END64_SIZE || u32(im->data + at) != END64_SIG)
		return bad(im, end - LOCATOR_SIZE, "the ZIP64 locator leads nowhere");
	const uint8_t *p = im->data + at;
	if (u32(p + 16) || u32(p + 20) || u64(p + 24) != u64(p + 32))
		return bad(im, at, "an archive in several parts");
	*ret = (struct directory){u64(p + 48), u64(p + 40), u64(p + 32)};
	return 0;
}

static int read_directory(const struct image *im, struct directory *ret)
{
	size_t end = 0;
	int rc = find_end(im, &end);
	if (rc)
		return rc;
	const uint8_t *p = im->data + end;
	if (u16(p + 4) || u16(p + 6) || u16(p + 8) != u16(p + 10)) {
		if (u16(p + 4) != 0xffff && u16(p + 6) != 0xffff)
			return bad(im, end, "an archive in several parts");
	}
	struct directory d = {u32(p + 16), u32(p + 12), u16(p + 10)};
	rc = read_end64(im, end, &d);
	if (rc)
		return rc;
	if (d.at > end || d.size > end - d.at)
		return bad(im, end, "the directory lies outside of the file");
	if (d.count > d.size / ENTRY_SIZE || d.count > MEMBER_LIMIT)
		return bad(im, end, "the directory claims more members than it can hold");
	*ret = d;
	return 0;
}

/* ZIP64: fields that are all ones in the entry follow, in this order, in extra field
 * 1. */
static int read_extra(const struct image *im, uint64_t at, size_t len, struct ls_zip_member *m,
		      uint64_t *local)
{
	const uint8_t *p = im->data + at;
	for (size_t i = 0; i + 4 <= len;) {
		size_t id = u16(p + i), size = u16(p + i + 2), used = 0;
		if (size > len - i - 4)
			return bad(im, at + i, "an extra field is longer than its record");
		if (id == 1) {
			uint64_t *fields[3] = {&m->size, &m->packed, local};
			for (int f = 0; f < 3; f++)
				if (*fields[f] == UINT32_MAX) {
					if (used + 8 > size)
						return bad(im, at + i, "a ZIP64 field is missing");
					*fields[f] = u64(p + i + 4 + used);
					used += 8;
				}
		}
		i += 4 + size;
	}
	return 0;
}

static bool name_is_safe(const char *name, size_t len)
{
	if (len == 0 || name[0] == '/' || memchr(name, 0, len) || memchr(name, '\\', len))
		return false;
	for (size_t i = 0; i < len;) {
		const char *slash = memchr(name + i, '/', len - i);
		size_t part = slash ? (size_t)(slash - name) - i : len - i;
		if (part == 2 && name[i] == '.' && name[i + 1] == '.')
			return false;
		i += part + 1;
	}
	return true;
}

static int check_sizes(const struct image *im, const struct ls_zip_member *m)
{
	if (!m->deflated && m->packed != m->size)
		return bad_member(im, m->name, "stored, but its two sizes differ");
	if (m->deflated && m->size / DEFLATE_RATIO > m->packed)
		return bad_member(im, m->name,
				  "claims more bytes than its compressed data can unfold to");
	if (m->deflated && m->size > BOMB_SIZE && m->size / BOMB_RATIO > m->packed)
		return bad_member(im, m->name,
				  "unfolds to more than 200 times its size: refused as a zip bomb");
	return 0;
}

static int read_local(const struct image *im, uint64_t at, struct ls_zip_member *m,
		      uint64_t directory)
{
	if (at > directory || directory - at < LOCAL_SIZE || u32(im->data + at) != LOCAL_SIG)
		return bad_member(im, m->name, "the directory leads to no member");
	const uint8_t *p = im->data + at;
	size_t name = u16(p + 26), extra = u16(p + 28), room = directory - at - LOCAL_SIZE;
	if (name + extra > room || m->packed > room - name - extra)
		return bad_member(im, m->name, "its data lies outside of the file");
	if (name != strlen(m->name) || memcmp(p + LOCAL_SIZE, m->name, name) != 0)
		return bad_member(im, m->name, "is named otherwise where its data lies");
	m->data = p + LOCAL_SIZE + name + extra;
	return 0;
}

/* One entry of the directory; *at moves to the next. */
static int read_entry(const struct image *im, const struct directory *d, uint64_t *at,
		      struct ls_zip_member *m)
{
	uint64_t left = d->at + d->size - *at;
	const uint8_t *p = im->data + *at;
	if (left < ENTRY_SIZE || u32(p) != ENTRY_SIG)
		return bad(im, *at, "the directory is cut short");
	size_t name = u16(p + 28), extra = u16(p + 30), comment = u16(p + 32);
	if (name + extra + comment > left - ENTRY_SIZE)
		return bad(im, *at, "a directory entry is longer than the directory");
	if (!name_is_safe((const char *)p + ENTRY_SIZE, name))
		return ls_err_set(im->err, LS_EINPUT,
				  "%s: byte %" PRIu64
				  ": a member's name leads out of the archive: \"%.*s\"",
				  im->name, *at, (int)(name < 200 ? name : 200),
				  (const char *)p + ENTRY_SIZE);
	m->name = ls_xstrndup((const char *)p + ENTRY_SIZE, name);
	uint16_t method = u16(p + 10);
	if (u16(p + 8) & 1)
		return bad_member(im, m->name, "is encrypted");
	if (method != 0 && method != 8)
		return ls_err_set(im->err, LS_EINPUT,
				  "%s: member \"%.200s\": compression method %u; only stored and "
				  "deflate are read",
				  im->name, m->name, method);
	m->deflated = method == 8;
	m->crc = u32(p + 16);
	m->packed = u32(p + 20);
	m->size = u32(p + 24);
	uint64_t local = u32(p + 42);
	int rc = read_extra(im, *at + ENTRY_SIZE + name, extra, m, &local);
	if (rc == 0)
		rc = check_sizes(im, m);
	if (rc == 0)
		rc = read_local(im, local, m, d->at);
	*at += ENTRY_SIZE + name + extra + comment;
	return rc;
}

static int by_place(const void *a, const void *b)
{
	const struct ls_zip_member *x = a, *y = b;
	if (x->data != y->data)
		return x->data < y->data ? -1 : 1;
	return (x->packed > y->packed) - (x->packed < y->packed);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct ls_zip_member *)a)->name,
		      ((const struct ls_zip_member *)b)->name);
}

/* Members that share bytes are the other way to build a bomb; leaves the list sorted by
 * name. */
static int check_twins(const struct image *im, struct ls_zip *zip)
{
	qsort(zip->members, zip->n, sizeof *zip->members, by_place);
	for (size_t i = 1; i < zip->n; i++) {
		const struct ls_zip_member *a = &zip->members[i - 1], *b = &zip->members[i];
		if (b->data < a->data + a->packed)
			return bad_member(im, b->name, "shares its bytes with another member");
	}
	qsort(zip->members, zip->n, sizeof *zip->members, by_name);
	for (size_t i = 1; i < zip->n; i++)
		if (by_name(&zip->members[i - 1], &zip->members[i]) == 0)
			return bad_member(im, zip->members[i].name, "is there twice");
	return 0;
}

int ls_zip_parse(const uint8_t *data, size_t len, const char *name, struct ls_zip *ret,
		 struct ls_err *err)
{
	struct image im = {data, len, name, err};
	struct directory d = {0};
	int rc = read_directory(&im, &d);
	if (rc)
		return rc;
	struct ls_zip zip = {.members = ls_alloc_array(d.count + 1, sizeof *zip.members),
			     .name = ls_xstrdup(name)};
	if (!zip.members)
		rc = ls_err_set(err, LS_ENOMEM, "%s: no memory for its directory", name);
	uint64_t at = d.at;
	while (rc == 0 && zip.n < d.count)
		rc = read_entry(&im, &d, &at, &zip.members[zip.n++]);
	if (rc == 0)
		rc = check_twins(&im, &zip);
	if (rc)
		ls_zip_done(&zip);
	else
		*ret = zip;
	return rc;
}

void ls_zip_done(struct ls_zip *zip)
{
	for (size_t i = 0; i < zip->n; i++)
		free(zip->members[i].name);
	free(zip->members);
	free(zip->name);
	*zip = (struct ls_zip){0};
}

const struct ls_zip_member *ls_zip_find(const struct ls_zip *zip, const char *name)
{
	struct ls_zip_member key = {.name = (char *)(uintptr_t)name};
	return bsearch(&key, zip->members, zip->n, sizeof key, by_name);
}
