#include "watch/kmsg.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "env/facts/root.h"

enum { RECORD = 8192 };

struct ls_kmsg {
	int fd;
	char buf[RECORD + 1];
	size_t have, at; /* bytes in buf, and those that were used */
};

/* "0000:3b:00" in front of "): "; a domain of eight digits loses its first zeros. */
static const char *pci_of(const char *p, char ret[LS_KMSG_PCI])
{
	size_t n = strspn(p, "0123456789abcdefABCDEF:.");
	while (n > 10 && *p == '0') {
		p++;
		n--;
	}
	if (n < 7 || n >= LS_KMSG_PCI || p[n] != ')')
		return NULL;
	for (size_t i = 0; i < n; i++)
		ret[i] = (char)tolower((unsigned char)p[i]);
	ret[n] = 0;
	return p + n + 1;
}

bool ls_kmsg_parse(const char *record, struct ls_kmsg_xid *ret)
{
	static const char mark[] = "NVRM: Xid (PCI:";
	struct ls_kmsg_xid x = {.xid = 0};
	const char *message = strchr(record, ';');
	const char *p = message ? strstr(message, mark) : NULL;
	const char *time = strchr(record, ',');
	time = time ? strchr(time + 1, ',') : NULL;
	if (!p || !time || time > message)
		return false;
	p = pci_of(p + strlen(mark), x.pci);
	if (!p || strncmp(p, ": ", 2) != 0 || !isdigit((unsigned char)p[2]))
		return false;
	unsigned long xid = strtoul(p + 2, NULL, 10);
	if (xid == 0 || xid > 100000)
		return false;
	x.xid = (unsigned)xid;
	x.since_boot = (double)strtoull(time + 1, NULL, 10) / 1e6;
	*ret = x;
	return true;
}

int ls_kmsg_open(const char *root, struct ls_kmsg **ret, struct ls_err *err)
{
	char *path = ls_root_open_path(root, "/dev/kmsg");
	int fd = path ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
	if (!path)
		errno = ENOENT;
	free(path);
	if (fd < 0) {
		ls_err_errno(err, "/dev/kmsg", "read");
		return LS_EUNKNOWN;
	}
	*ret = ls_xalloc(sizeof **ret);
	(*ret)->fd = fd;
	return 0;
}

void ls_kmsg_close(struct ls_kmsg *k)
{
	if (!k)
		return;
	close(k->fd);
	free(k);
}

/* A read of the real log gives one record; of a file, as many as fit. A record that does
 * not fit is cut. EPIPE: the kernel has dropped some that we were too slow for. */
static bool fill(struct ls_kmsg *k)
{
	ssize_t n;
	memmove(k->buf, k->buf + k->at, k->have - k->at);
	k->have -= k->at;
	k->at = 0;
	if (k->have == RECORD)
		k->have = 0;
	do
		n = read(k->fd, k->buf + k->have, RECORD - k->have);
	while (n < 0 && (errno == EPIPE || errno == EINTR));
	if (n <= 0)
		return false;
	k->have += (size_t)n;
	return true;
}

bool ls_kmsg_next(struct ls_kmsg *k, struct ls_kmsg_xid *ret)
{
	for (;;) {
		char *line = k->buf + k->at;
		char *end = memchr(line, '\n', k->have - k->at);
		if (!end) {
			if (!fill(k))
				return false;
			continue;
		}
		*end = 0;
		k->at = (size_t)(end + 1 - k->buf);
		if (ls_kmsg_parse(line, ret))
			return true;
	}
}
