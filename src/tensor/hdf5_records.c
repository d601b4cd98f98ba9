/* The records that are written. */
#include <string.h>

#include "tensor/hdf5_reader.h"

enum { RECORD_LIMIT = 1 << 20 };

void ls_h5_put_number(struct ls_h5_reader *r, uint64_t n, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		putc((int)(n >> 8 * i & 0xff), r->out);
}

void ls_h5_put_text(struct ls_h5_reader *r, const char *s, size_t n)
{
	ls_h5_put_number(r, n, 4);
	fwrite(s, 1, n, r->out);
}

void ls_h5_put_name(struct ls_h5_reader *r)
{
	ls_h5_put_text(r, r->path.len ? r->path.s : "", r->path.len);
}

void ls_h5_put_failure(struct ls_h5_reader *r, bool unknown, const char *text)
{
	putc(LS_H5_FAILED, r->out);
	putc(unknown, r->out);
	ls_h5_put_text(r, text, strlen(text));
	r->failed = true;
}

int ls_h5_fail(struct ls_h5_reader *r, const char *what)
{
	char text[512];
	unsigned major = 0, minor = 0, release = 0;
	r->h5.version(&major, &minor, &release);
	snprintf(text, sizeof text, "\"%.300s\": %s (libhdf5 %u.%u.%u)",
		 r->path.len ? r->path.s : "/", what, major, minor, release);
	ls_h5_put_failure(r, false, text);
	return 1;
}

int ls_h5_count(struct ls_h5_reader *r)
{
	return ++r->records > RECORD_LIMIT ? ls_h5_fail(r, "more entries than a model has") : 0;
}

int ls_h5_put_trait(struct ls_h5_reader *r, const char *text)
{
	putc(LS_H5_TRAIT, r->out);
	ls_h5_put_name(r);
	ls_h5_put_text(r, text, strlen(text));
	return ls_h5_count(r);
}

int ls_h5_put_value(struct ls_h5_reader *r, enum ls_value_kind kind, uint64_t number,
		    const char *text, size_t n)
{
	if (n > r->budget || n > UINT32_MAX)
		return ls_h5_fail(r, "texts far larger than the file: refused");
	r->budget -= n;
	putc(LS_H5_VALUE, r->out);
	ls_h5_put_name(r);
	putc((int)kind, r->out);
	ls_h5_put_number(r, number, 8);
	ls_h5_put_text(r, text, n);
	putc(0, r->out);
	return ls_h5_count(r);
}
