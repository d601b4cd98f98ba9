/* Groups, links and attributes of an HDF5 file. */
#include "tensor/hdf5_reader.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sandbox.h"

enum {
	PATH_LIMIT = 4096,
	LINK_LIMIT = 1 << 16,
	UNPACK_SIZE = 256 << 20, /* bytes; beyond it compressed data may not be larger than */
	UNPACK_RATIO = 200,      /* so many times the file */
	SECONDS = 900,
};

static int put_other(struct ls_h5_reader *r, const char *text)
{
	return ls_h5_put_value(r, LS_VAL_OTHER, 0, text, strlen(text));
}

/* --- the walk --- */

/* Appends to the path; the caller cuts it back to the length that is returned. */
static size_t push(struct ls_h5_reader *r, const char *separator, const char *name)
{
	size_t before = r->path.len;
	ls_str_add(&r->path, separator);
	ls_str_add(&r->path, name);
	return before;
}

static void pop(struct ls_h5_reader *r, size_t before)
{
	r->path.len = before;
	r->path.s[before] = 0;
}

static int visit_attribute(int64_t object, const char *name, const void *info, void *ctx)
{
	(void)info;
	struct ls_h5_reader *r = ctx;
	size_t before = push(r, "@", name);
	int64_t attribute = r->path.len < PATH_LIMIT ? r->h5.attribute_open(object, name, 0) : -1;
	int rc = attribute < 0 ? ls_h5_fail(r, "an attribute that cannot be read")
			       : ls_h5_attribute(r, attribute);
	if (attribute >= 0)
		r->h5.attribute_close(attribute);
	pop(r, before);
	return rc;
}

static int visit_attributes(struct ls_h5_reader *r, int64_t object)
{
	uint64_t at = 0;
	int rc = r->h5.attributes(object, 0, 0, &at, visit_attribute, r);
	return r->failed || rc >= 0
		       ? r->failed
		       : ls_h5_fail(r, "attributes that are damaged, or newer than this library");
}

/* Soft links lead to a name within the file, external ones to another file: both are
 * text. */
static int visit_link(struct ls_h5_reader *r, int64_t group, const char *name,
		      const struct ls_h5_link_info *link)
{
	char value[LINK_LIMIT + 1] = "", text[LINK_LIMIT + 100];
	uint64_t n = link->address_or_size;
	if (n > LINK_LIMIT || r->h5.link_value(group, name, value, (size_t)n, 0) < 0)
		return ls_h5_fail(r, "a link that cannot be read");
	if (link->type == LS_H5_LINK_SOFT) {
		snprintf(text, sizeof text, "link to %s", value);
		return put_other(r, text);
	}
	/* a byte of flags, the file's name, the object's name */
	size_t file = strnlen(value + 1, LINK_LIMIT - 1);
	snprintf(text, sizeof text, "link to %s in the file %s", value + file + 2, value + 1);
	return put_other(r, text);
}

static int visit_object(struct ls_h5_reader *r, int64_t object);

static int visit_member(int64_t group, const char *name, const struct ls_h5_link_info *link,
			void *ctx)
{
	struct ls_h5_reader *r = ctx;
	size_t before = push(r, r->path.len ? "/" : "", name);
	int rc;
	if (r->path.len > PATH_LIMIT) {
		rc = ls_h5_fail(r, "a name of more than 4096 bytes");
	} else if (link->type != LS_H5_LINK_HARD) {
		rc = visit_link(r, group, name, link);
	} else {
		int64_t object = r->h5.object_open(group, name, 0);
		rc = object < 0
			     ? ls_h5_fail(r,
					  "an object that is damaged, or newer than this library")
			     : visit_object(r, object);
		if (object >= 0)
			r->h5.object_close(object);
	}
	pop(r, before);
	return rc;
}

static int visit_group(struct ls_h5_reader *r, int64_t group)
{
	struct ls_h5_object_info info = {0};
	size_t before = r->records;
	uint64_t at = 0;
	if (r->h5.object_info(group, &info) < 0)
		return ls_h5_fail(r, "an object that is damaged, or newer than this library");
	for (int i = 0; i < r->depth; i++)
		if (r->on_path[i] == info.address) {
			char text[64];
			snprintf(text, sizeof text, "the group %d levels up", r->depth - i);
			return put_other(r, text);
		}
	if (r->depth == LS_H5_DEPTH)
		return ls_h5_fail(r, "groups nested deeper than 64");
	r->on_path[r->depth++] = info.address;
	int rc = r->h5.links(group, 0, 0, &at, visit_member, r);
	r->depth--;
	if (r->failed || rc < 0)
		return r->failed ? 1 : ls_h5_fail(r, "a group that cannot be read");
	return r->records == before ? put_other(r, "an empty group") : 0;
}

static int visit_object(struct ls_h5_reader *r, int64_t object)
{
	int type = r->h5.object_type(object);
	int rc = type == LS_H5_OBJECT_GROUP     ? visit_group(r, object)
		 : type == LS_H5_OBJECT_DATASET ? ls_h5_dataset(r, object)
						: put_other(r, "a named type");
	return rc ? rc : visit_attributes(r, object);
}

static void read_file(struct ls_h5_reader *r, const char *path, uint64_t file_len, int opened)
{
	r->h5.quiet(0, NULL, NULL);
	r->h5.plugins(0); /* a file may name a filter, and a filter is a program */
	ls_sandbox_enter((uint64_t)2 << 30, file_len + r->budget + ((uint64_t)1 << 30), SECONDS);
	int64_t file = r->h5.file_open(path, 0, 0);
	close(opened);
	if (file < 0) {
		ls_h5_put_failure(r, false, "not an HDF5 file, or a damaged one");
		return;
	}
	int64_t root = r->h5.object_open(file, "/", 0);
	if (root < 0)
		ls_h5_put_failure(r, false, "an HDF5 file without a root");
	else if (visit_object(r, root) == 0)
		putc(LS_H5_END, r->out);
}

void ls_h5_read(const char *path, uint64_t file_len, int out, int opened)
{
	struct ls_h5_reader r = {.out = fdopen(out, "wb"), .budget = UNPACK_SIZE};
	struct ls_err err = {0};
	if (!r.out)
		return;
	if (file_len > UNPACK_SIZE / UNPACK_RATIO)
		r.budget = file_len * UNPACK_RATIO;
	ls_str_add(&r.path, "");
	if (ls_h5_load(&r.h5, &err) || r.h5.open() < 0)
		ls_h5_put_failure(&r, true, *err.msg ? err.msg : "libhdf5 does not start");
	else
		read_file(&r, path, file_len, opened);
	fflush(r.out);
}
