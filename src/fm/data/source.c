#include "fm/data/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"

enum { SLICE = 4 << 20, INPUT = 256 << 10, LONGEST_LINE = 1 << 30 };

/* Bytes come from the map (at) or, when there is none, from the descriptor through input;
 * gzip is undone between them and the slices. carry is the line that the last slice cut
 * off. */
struct ls_source {
	char *name;
	size_t slice_bytes;
	struct ls_map map;
	bool has_map, owns_map;
	struct ls_file_id mapped; /* what fd was when it was mapped */
	size_t at;
	int fd;
	bool owns_fd, eof, begun, gzip, gzip_open, gzip_between;
	uint8_t *input;
	size_t input_at, input_len;
	char *carry;
	size_t carry_len;
	z_stream z;
	int failed; /* an error that waits for the lines before it */
	struct ls_err failure;
	uint8_t magic[LS_CONTENT_MAGIC];
	size_t magic_len;
};

void ls_slice_done(struct ls_slice *slice)
{
	free(slice->owned);
	*slice = (struct ls_slice){0};
}

const char *ls_source_name(const struct ls_source *s)
{
	return s->name;
}

const struct ls_map *ls_source_map(const struct ls_source *s)
{
	return s->has_map ? &s->map : NULL;
}

bool ls_source_unchanged(const struct ls_source *s)
{
	struct ls_file_id is = s->owns_map ? ls_file_id_of(s->fd) : s->mapped;
	return ls_file_id_same(&is, &s->mapped);
}

void ls_source_accept(struct ls_source *s)
{
	s->mapped = ls_file_id_of(s->fd);
}

static void advise(struct ls_source *s, int how)
{
	if (s->owns_map && s->map.len)
		madvise((void *)(uintptr_t)s->map.data, s->map.len, how);
}

void ls_source_read_anywhere(struct ls_source *s)
{
	advise(s, MADV_NORMAL);
}

enum ls_content ls_source_content(const struct ls_source *s)
{
	return ls_content_of(s->magic, s->magic_len);
}

/* Fills an empty input buffer. */
static int refill(struct ls_source *s, struct ls_err *err)
{
	if (s->input_at < s->input_len || s->eof)
		return 0;
	if (s->has_map) { /* only gzip comes this way */
		size_t n = s->map.len - s->at < INPUT ? s->map.len - s->at : INPUT;
		memcpy(s->input, s->map.data + s->at, n);
		s->at += n;
		s->input_at = 0;
		s->input_len = n;
		s->eof = n == 0;
		return 0;
	}
	ssize_t n;
	while ((n = read(s->fd, s->input, INPUT)) < 0 && errno == EINTR)
		continue;
	if (n < 0)
		return ls_err_errno(err, s->name, "read");
	s->input_at = 0;
	s->input_len = (size_t)n;
	s->eof = n == 0;
	return 0;
}

/* A pipe may hand over the magic in parts. */
static int read_magic(struct ls_source *s, struct ls_err *err)
{
	while (s->magic_len < LS_CONTENT_MAGIC && !s->eof) {
		ssize_t n = read(s->fd, s->input + s->input_len, INPUT - s->input_len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ls_err_errno(err, s->name, "read");
		s->eof = n == 0;
		s->input_len += (size_t)n;
		s->magic_len = s->input_len < LS_CONTENT_MAGIC ? s->input_len : LS_CONTENT_MAGIC;
		memcpy(s->magic, s->input, s->magic_len);
	}
	return 0;
}

static void look_at_magic(struct ls_source *s)
{
	if (s->has_map) {
		s->magic_len = s->map.len < LS_CONTENT_MAGIC ? s->map.len : LS_CONTENT_MAGIC;
		memcpy(s->magic, s->map.data, s->magic_len);
	}
	s->gzip = ls_content_is_gzip(s->magic, s->magic_len);
	if (!s->input && s->gzip)
		s->input = ls_xalloc(INPUT);
}

static struct ls_source *new_source(const char *name, size_t slice_bytes)
{
	struct ls_source *s = ls_xalloc(sizeof *s);
	s->name = ls_xstrdup(name);
	s->slice_bytes = slice_bytes ? slice_bytes : SLICE;
	s->fd = -1;
	return s;
}

void ls_source_open_memory(const char *name, const void *data, size_t len, size_t slice_bytes,
			   struct ls_source **ret)
{
	struct ls_source *s = new_source(name, slice_bytes);
	s->map = (struct ls_map){data, len};
	s->has_map = true;
	look_at_magic(s);
	*ret = s;
}

static bool is_regular(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static int map_take(struct ls_source *s, int fd, struct ls_err *err)
{
	s->fd = fd;
	s->owns_fd = true;
	s->mapped = ls_file_id_of(fd);
	int rc = ls_file_map_fd(fd, s->name, &s->map, err);
	s->has_map = s->owns_map = rc == 0;
	advise(s, MADV_SEQUENTIAL);
	return rc;
}

/* Opened only once: what a quick writer has put into a named pipe is gone when the last
 * descriptor is closed. */
static int open_path(struct ls_source *s, const char *path, struct ls_err *err)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ls_err_errno(err, path, "open");
	if (!is_stdin && is_regular(fd))
		return map_take(s, fd, err);
	s->fd = fd;
	s->owns_fd = !is_stdin;
	s->input = ls_xalloc(INPUT);
	return read_magic(s, err);
}

int ls_source_open(const char *path, size_t slice_bytes, struct ls_source **ret, struct ls_err *err)
{
	struct ls_source *s =
		new_source(strcmp(path, "-") == 0 ? "standard input" : path, slice_bytes);
	int rc = open_path(s, path, err);
	if (rc) {
		ls_source_free(s);
		return rc;
	}
	look_at_magic(s);
	*ret = s;
	return 0;
}

void ls_source_free(struct ls_source *s)
{
	if (!s)
		return;
	if (s->gzip_open)
		inflateEnd(&s->z);
	if (s->owns_map)
		ls_file_unmap(&s->map);
	if (s->owns_fd && s->fd >= 0)
		close(s->fd);
	free(s->input);
	free(s->carry);
	free(s->name);
	free(s);
}

/* --- mapped text --- */

static int no_memory(const struct ls_source *s, size_t n, struct ls_err *err)
{
	return ls_err_set(err, LS_ENOMEM, "%s: no memory for %zu bytes of text", s->name, n);
}

/* The last slice may lack readable bytes after it and a newline at its end: it becomes a
 * copy that has both. */
static int last_slice(const struct ls_source *s, const char *text, size_t len, struct ls_slice *ret,
		      struct ls_err *err)
{
	char *copy = malloc(len + 1 + LS_SLICE_PAD);
	if (!copy)
		return no_memory(s, len, err);
	memcpy(copy, text, len);
	bool ends = len && text[len - 1] == '\n';
	memset(copy + len, '\n', 1 + LS_SLICE_PAD);
	*ret = (struct ls_slice){copy, ends ? len : len + 1, copy};
	return 1;
}

static int next_mapped(struct ls_source *s, struct ls_slice *ret, struct ls_err *err)
{
	const char *text = (const char *)s->map.data + s->at;
	size_t left = s->map.len - s->at, len = left;
	if (left == 0)
		return 0;
	if (left > s->slice_bytes) {
		const char *end =
			memchr(text + s->slice_bytes - 1, '\n', left - s->slice_bytes + 1);
		len = end ? (size_t)(end + 1 - text) : left;
	}
	if (left - len < LS_SLICE_PAD) {
		s->at += left;
		return last_slice(s, text, left, ret, err);
	}
	s->at += len;
	*ret = (struct ls_slice){text, len, NULL};
	return 1;
}

/* --- streams --- */

static int begin_member(struct ls_source *s, struct ls_err *err)
{
	int z = s->gzip_open ? inflateReset(&s->z) : inflateInit2(&s->z, 15 + 16);
	if (z != Z_OK)
		return ls_err_set(err, LS_ENOMEM, "%s: no memory for gzip", s->name);
	s->gzip_open = true;
	s->gzip_between = false;
	return 0;
}

/* Between two gzip members: more of them, zero padding, or the end. */
static int next_member(struct ls_source *s, struct ls_err *err)
{
	while (s->input_at < s->input_len && s->input[s->input_at] == 0)
		s->input_at++;
	if (s->input_at == s->input_len)
		return 0;
	if (s->input[s->input_at] != 0x1f)
		return ls_err_set(err, LS_EINPUT,
				  "%s: bytes behind the gzip data that are not gzip", s->name);
	return begin_member(s, err);
}

static int inflate_some(struct ls_source *s, char *to, size_t room, size_t *ret_n,
			struct ls_err *err)
{
	int rc = 0;
	if (!s->gzip_open && (rc = begin_member(s, err)))
		return rc;
	if (s->gzip_between && (rc = next_member(s, err)))
		return rc;
	if (s->gzip_between) /* no further member yet */
		return 0;
	s->z.next_in = s->input + s->input_at;
	s->z.avail_in = (unsigned)(s->input_len - s->input_at);
	s->z.next_out = (unsigned char *)to;
	s->z.avail_out = room < 1 << 30 ? (unsigned)room : 1U << 30;
	unsigned offered = s->z.avail_out;
	int z = inflate(&s->z, Z_NO_FLUSH);
	s->input_at = s->input_len - s->z.avail_in;
	*ret_n = offered - s->z.avail_out;
	s->gzip_between = z == Z_STREAM_END;
	if (z == Z_BUF_ERROR && *ret_n == 0 && s->eof)
		return ls_err_set(err, LS_EINPUT, "%s: the gzip data end early", s->name);
	if (z == Z_OK || z == Z_STREAM_END || z == Z_BUF_ERROR)
		return 0;
	return ls_err_set(err, LS_EINPUT, "%s: damaged gzip data: %s", s->name,
			  s->z.msg ? s->z.msg : "unknown");
}

/* Some bytes of text; *ret_n 0 only at the end. */
static int read_some(struct ls_source *s, char *to, size_t room, size_t *ret_n, struct ls_err *err)
{
	*ret_n = 0;
	while (*ret_n == 0) {
		int rc = refill(s, err);
		bool end = s->eof && s->input_at == s->input_len;
		if (rc == 0 && s->gzip)
			rc = inflate_some(s, to, room, ret_n, err);
		if (rc || (end && *ret_n == 0 && (!s->gzip || s->gzip_between)))
			return rc;
		if (s->gzip)
			continue;
		size_t n = s->input_len - s->input_at;
		*ret_n = n < room ? n : room;
		memcpy(to, s->input + s->input_at, *ret_n);
		s->input_at += *ret_n;
	}
	return 0;
}

static const char *last_newline(const char *text, size_t len)
{
	return memrchr(text, '\n', len);
}

/* Fills *buf (which may move) until it holds slice_bytes with a line's end among them, or
 * the text ends. A line that never ends, as gzip makes of little, is not read until there
 * is no memory left. */
static int fill(struct ls_source *s, char **buf, size_t *len, bool *ret_end, struct ls_err *err)
{
	size_t cap = s->slice_bytes > *len ? s->slice_bytes : *len + s->slice_bytes;
	char *grown = NULL;
	for (size_t seen = *len;;) {
		grown = realloc(*buf, cap + 1 + LS_SLICE_PAD);
		if (!grown)
			return no_memory(s, cap, err);
		*buf = grown;
		while (*len < cap) {
			size_t n;
			int rc = read_some(s, *buf + *len, cap - *len, &n, err);
			*len += n;
			*ret_end = n == 0;
			if (rc || n == 0)
				return rc;
		}
		if (last_newline(*buf + seen, *len - seen))
			return 0;
		seen = *len;
		if (cap >= LONGEST_LINE)
			return ls_err_set(err, LS_EINPUT,
					  "%s: a line of more than 1 GiB, which only an "
					  "uncompressed file may have",
					  s->name);
		cap *= 2;
	}
}

/* Only text is read out of gzip. If something else was packed, the message says what. */
static int check_inflated(const struct ls_source *s, const char *bytes, size_t len,
			  struct ls_err *err)
{
	enum ls_content content = ls_content_of(bytes, len);
	if (ls_content_is_gzip(bytes, len) || content == LS_CONTENT_PACKED)
		return ls_err_set(
			err, LS_EINPUT,
			"%s: compressed twice: unpack it; text in one gzip is read as it is",
			s->name);
	if (content == LS_CONTENT_TEXT)
		return 0;
	bool rows = content == LS_CONTENT_LSD || content == LS_CONTENT_ZIP;
	return ls_err_set(err, LS_EINPUT, "%s: gzip of %s%s", s->name, ls_content_name(content),
			  rows ? ": unpack it; text alone is read out of gzip"
			       : ", not of rows as text");
}

static int fill_checked(struct ls_source *s, char **buf, size_t *len, bool *ret_end,
			struct ls_err *err)
{
	if (s->failed) {
		*err = s->failure;
		return s->failed;
	}
	int rc = fill(s, buf, len, ret_end, err);
	int wrong = s->gzip && !s->begun ? check_inflated(s, *buf, *len, err) : 0;
	if (wrong)
		*len = 0; /* no line of it counts */
	return wrong ? wrong : rc;
}

/* An error after whole lines waits for the next call: faults in those lines come first,
 * whatever the size of a slice. */
static int postpone(struct ls_source *s, int rc, const struct ls_err *err, size_t whole)
{
	if (whole == 0)
		return rc;
	s->failed = rc;
	s->failure = *err;
	return 0;
}

static int keep_rest(struct ls_source *s, const char *rest, size_t len, struct ls_err *err)
{
	if (len == 0)
		return 0;
	s->carry = malloc(len);
	if (!s->carry)
		return no_memory(s, len, err);
	memcpy(s->carry, rest, len);
	s->carry_len = len;
	return 0;
}

static int next_streamed(struct ls_source *s, struct ls_slice *ret, struct ls_err *err)
{
	char *buf = s->carry;
	size_t len = s->carry_len;
	bool end = false;
	struct ls_err why = {0};
	s->carry = NULL;
	s->carry_len = 0;
	int rc = fill_checked(s, &buf, &len, &end, &why);
	if (rc == 0 && end && len && buf[len - 1] != '\n')
		buf[len++] = '\n';
	const char *last = len ? last_newline(buf, len) : NULL;
	size_t whole = last ? (size_t)(last + 1 - buf) : 0;
	if (rc)
		rc = postpone(s, rc, &why, whole);
	else
		rc = keep_rest(s, buf + whole, len - whole, &why);
	if (rc || whole == 0) {
		free(buf);
		if (rc && err)
			*err = why;
		return rc;
	}
	memset(buf + whole, '\n', LS_SLICE_PAD);
	*ret = (struct ls_slice){buf, whole, buf};
	return 1;
}

int ls_source_next(struct ls_source *s, struct ls_slice *ret, struct ls_err *err)
{
	int rc = s->has_map && !s->gzip ? next_mapped(s, ret, err) : next_streamed(s, ret, err);
	/* Editors of some systems put a byte-order mark before UTF-8 text. */
	if (rc == 1 && !s->begun && ret->len > 3 && memcmp(ret->text, "\xef\xbb\xbf", 3) == 0) {
		ret->text += 3;
		ret->len -= 3;
	}
	s->begun = true;
	return rc;
}
