/* The kernel log, shared by the library that writes it inside the traced program and by
 * the reader. Little-endian. After the eight bytes of the magic come records, each one
 * tag byte and its fields; a number is a varint (seven bits a byte, low ones first). No
 * state here; any thread. */
#ifndef LS_RUN_KTRACE_FORMAT_H
#define LS_RUN_KTRACE_FORMAT_H

#include <stdint.h>

#define LS_KTRACE_MAGIC "LSKT0001"

enum ls_ktrace_tag {
	LS_KT_END = 0,    /* zeros after the last record of a program that was killed */
	LS_KT_NAME = 1,   /* length, bytes; names are numbered as they come */
	LS_KT_LAUNCH = 2, /* name, grid x y z, block x y z, shared bytes, stream; streams are
			     numbered as they come */
	LS_KT_CHECK = 3,  /* launches so far, rolling digest so far as 8 bytes */
	LS_KT_NOTE = 4,   /* length, bytes: why nothing could be traced */
};

enum { LS_KT_FIELDS = 8, LS_KT_CHECK_EVERY = 4096 };

/* The digest rolls over each launch in order: its kernel's name, then its numbers. */
static inline uint64_t ls_ktrace_roll(uint64_t digest, uint64_t word)
{
	digest = (digest ^ word) * 0x9e3779b97f4a7c15u;
	return digest ^ (digest >> 29);
}

static inline uint64_t ls_ktrace_hash(const char *name)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 0x100000001b3u;
	return h;
}

#endif
