#include "watch/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/mem.h"

/* A record: number, time, values, XXH64 of what comes before. Numbers begin at 1; record
 * n lies in slot n % capacity. */
enum {
	HEADER = 512,
	NUMBER = 8,
	TIME = 8,
	SUM = 8,
	RECORD = NUMBER + TIME + SUM + 4 * LS_RING_COLUMNS,
	BLOCK = 1024
};

struct header {
	char magic[8];
	uint32_t columns, capacity;
	char names[LS_RING_NAMES];
	uint64_t sum;
};

struct ls_ring {
	int fd;
	unsigned columns, capacity;
	size_t record;
	atomic_uint_fast64_t newest; /* 0: none */
};

static void make_header(const struct ls_ring_form *form, char ret[HEADER])
{
	struct header h;
	memset(&h, 0, sizeof h);
	memcpy(h.magic, "LSRING1\n", sizeof h.magic);
	h.columns = form->columns;
	h.capacity = form->capacity;
	snprintf(h.names, sizeof h.names, "%s", form->names);
	h.sum = ls_xxh64(&h, offsetof(struct header, sum));
	memset(ret, 0, HEADER);
	memcpy(ret, &h, sizeof h);
}

static off_t place(const struct ls_ring *r, uint64_t number)
{
	return HEADER + (off_t)((number % r->capacity) * r->record);
}

static bool whole(const struct ls_ring *r, const unsigned char *record, uint64_t *ret_number)
{
	uint64_t sum;
	memcpy(ret_number, record, NUMBER);
	memcpy(&sum, record + r->record - SUM, SUM);
	return *ret_number && ls_xxh64(record, r->record - SUM) == sum;
}

/* Looks at every slot once, when the file is opened. */
static void find_newest(struct ls_ring *r)
{
	unsigned char *block = ls_xalloc(BLOCK * r->record);
	uint64_t number, newest = 0;
	for (uint64_t slot = 0; slot < r->capacity; slot += BLOCK) {
		ssize_t n = pread(r->fd, block, BLOCK * r->record, place(r, slot));
		for (size_t i = 0; n > 0 && (i + 1) * r->record <= (size_t)n; i++)
			if (whole(r, block + i * r->record, &number) && number > newest &&
			    number % r->capacity == slot + i)
				newest = number;
	}
	atomic_store(&r->newest, newest);
	free(block);
}

/* 1: it has this form, 0: it is empty, negative: it has another one. */
static int judge_header(int fd, const char want[HEADER])
{
	char is[HEADER];
	ssize_t n = pread(fd, is, HEADER, 0);
	if (n == 0)
		return 0;
	return n == HEADER && memcmp(is, want, HEADER) == 0 ? 1 : -1;
}

static int begin_file(int fd, const char *path, const char header[HEADER], const struct ls_ring *r,
		      struct ls_err *err)
{
	off_t size = HEADER + (off_t)(r->capacity * r->record);
	if (pwrite(fd, header, HEADER, 0) != HEADER || ftruncate(fd, size) != 0 || fsync(fd) != 0)
		return ls_err_errno(err, path, "write");
	return 0;
}

static int open_file(const char *path, const char header[HEADER], int *ret_state,
		     struct ls_err *err)
{
	for (int again = 0; again < 2; again++) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
		if (fd < 0)
			break;
		*ret_state = judge_header(fd, header);
		if (*ret_state >= 0)
			return fd;
		close(fd);
		char *old = ls_xasprintf("%s.old", path);
		int rc = rename(path, old);
		free(old);
		if (rc)
			break;
	}
	return ls_err_errno(err, path, "open");
}

int ls_ring_open(const char *path, const struct ls_ring_form *form, struct ls_ring **ret,
		 struct ls_err *err)
{
	char header[HEADER];
	int state = 0, fd, rc = 0;
	make_header(form, header);
	fd = path ? open_file(path, header, &state, err) : memfd_create("ring", MFD_CLOEXEC);
	if (fd < 0)
		return path ? fd : ls_err_errno(err, "memory", "make a file in");
	struct ls_ring *r = ls_xalloc(sizeof *r);
	r->fd = fd;
	r->columns = form->columns;
	r->capacity = form->capacity;
	r->record = NUMBER + TIME + SUM + 4 * (size_t)form->columns;
	if (state == 0)
		rc = begin_file(fd, path ? path : "memory", header, r, err);
	else
		find_newest(r);
	if (rc)
		ls_ring_close(r);
	else
		*ret = r;
	return rc;
}

void ls_ring_close(struct ls_ring *r)
{
	if (!r)
		return;
	close(r->fd);
	free(r);
}

int ls_ring_add(struct ls_ring *r, const struct ls_ring_point *p, struct ls_err *err)
{
	unsigned char record[RECORD];
	uint64_t number = atomic_load(&r->newest) + 1;
	memcpy(record, &number, NUMBER);
	memcpy(record + NUMBER, &p->time, TIME);
	memcpy(record + NUMBER + TIME, p->v, 4 * (size_t)r->columns);
	uint64_t sum = ls_xxh64(record, r->record - SUM);
	memcpy(record + r->record - SUM, &sum, SUM);
	ssize_t n = pwrite(r->fd, record, r->record, place(r, number));
	if (n != (ssize_t)r->record) {
		errno = n < 0 ? errno : ENOSPC;
		return ls_err_errno(err, "history", "write");
	}
	atomic_store(&r->newest, number);
	return 0;
}

enum age { NOT_WHOLE, YOUNG, OLD };

/* A record that is damaged, or was overwritten meanwhile, is passed over. */
static enum age visit(const struct ls_ring *r, const unsigned char *record, uint64_t number,
		      double from, ls_ring_fn *fn, void *ctx)
{
	struct ls_ring_point p;
	uint64_t is;
	if (!whole(r, record, &is) || is != number)
		return NOT_WHOLE;
	memset(&p, 0, sizeof p);
	memcpy(&p.time, record + NUMBER, TIME);
	memcpy(p.v, record + NUMBER + TIME, 4 * (size_t)r->columns);
	if (!(p.time >= from))
		return OLD;
	fn(ctx, &p);
	return YOUNG;
}

/* Where every record is too old, all before it are. A single one may be of a time when the
 * machine's clock was wrong. */
static bool is_end(const bool seen[OLD + 1])
{
	return seen[OLD] && !seen[YOUNG];
}

void ls_ring_each(const struct ls_ring *r, double from, ls_ring_fn *fn, void *ctx)
{
	unsigned char *block = ls_xalloc(BLOCK * r->record);
	uint64_t newest = atomic_load(&r->newest), last = newest;
	uint64_t oldest = newest > r->capacity ? newest - r->capacity + 1 : 1;
	bool more = true;
	while (more && last >= oldest) { /* a run of slots that ends at `last` and does not wrap */
		bool seen[OLD + 1] = {false};
		uint64_t n = last % r->capacity + 1;
		n = n > BLOCK ? BLOCK : n;
		n = n > last - oldest + 1 ? last - oldest + 1 : n;
		uint64_t first = last - n + 1;
		ssize_t got = pread(r->fd, block, n * r->record, place(r, first));
		for (uint64_t i = n; i-- > 0;)
			if (got >= (ssize_t)((i + 1) * r->record))
				seen[visit(r, block + i * r->record, first + i, from, fn, ctx)] =
					true;
		more = !is_end(seen);
		last = first - 1;
	}
	free(block);
}
