#include "env/elf/ldcache.h"

#include <string.h>

/* glibc's elf/cache.h, as read off the format: all numbers in the machine's byte
 * order. */
struct entry {
	int32_t flags;
	uint32_t name, path; /* offsets from the header */
	uint32_t os_version;
	uint64_t hwcap;
};

struct header {
	char magic[20];
	uint32_t count;
	uint32_t string_bytes;
	uint32_t rest[5];
};

static const char magic[] = "glibc-ld.so.cache1.1";
static const char old_magic[] = "ld.so-1.7.0";

int32_t ls_ldcache_native(void)
{
#if defined(__x86_64__)
	return LS_LDCACHE_X86_64;
#elif defined(__aarch64__)
	return LS_LDCACHE_AARCH64;
#else
	return 0x0003; /* plain ELF, libc6 */
#endif
}

/* Where the present format starts: at 0, or behind the old one, aligned to 8. */
static int find_header(const uint8_t *p, size_t len, size_t *ret)
{
	enum { OLD_HEADER = 16, OLD_ENTRY = 12 };
	size_t at = 0;
	if (len >= OLD_HEADER && memcmp(p, old_magic, sizeof old_magic - 1) == 0) {
		uint32_t n;
		memcpy(&n, p + 12, sizeof n);
		if (n > len / OLD_ENTRY)
			return LS_EINPUT;
		at = (OLD_HEADER + (size_t)n * OLD_ENTRY + 7) & ~(size_t)7;
	}
	if (at > len || len - at < sizeof(struct header) ||
	    memcmp(p + at, magic, sizeof magic - 1) != 0)
		return LS_EINPUT;
	*ret = at;
	return 0;
}

static const char *string_at(const uint8_t *p, size_t len, uint32_t offset)
{
	if (offset >= len || !memchr(p + offset, 0, len - offset))
		return NULL;
	return (const char *)p + offset;
}

int ls_ldcache_each(const void *bytes, size_t len, int32_t flags,
		    bool (*see)(void *arg, const char *name, const char *path), void *arg,
		    struct ls_err *err)
{
	const uint8_t *p = bytes;
	size_t at;
	struct header h;
	if (find_header(p, len, &at))
		return ls_err_set(err, LS_EINPUT,
				  "not a loader cache of the format glibc-ld.so.cache1.1");
	p += at;
	len -= at;
	memcpy(&h, p, sizeof h);
	if (h.count > (len - sizeof h) / sizeof(struct entry))
		return ls_err_set(err, LS_EINPUT,
				  "a loader cache of %zu bytes cannot have %u entries", len,
				  h.count);
	for (uint32_t i = 0; i < h.count; i++) {
		struct entry e;
		memcpy(&e, p + sizeof h + (size_t)i * sizeof e, sizeof e);
		const char *name = string_at(p, len, e.name), *path = string_at(p, len, e.path);
		if (!name || !path)
			return ls_err_set(err, LS_EINPUT,
					  "entry %u of the loader cache points outside it", i);
		if (e.flags == flags && !see(arg, name, path))
			return 0;
	}
	return 0;
}
