#include "fm/export/proto.h"

#include <string.h>

enum { VARINT = 0, LENGTH = 2 };

static void add_varint(struct ls_str *to, uint64_t x)
{
	uint8_t bytes[10];
	size_t n = 0;
	for (; x >= 0x80; x >>= 7)
		bytes[n++] = (uint8_t)(x | 0x80);
	bytes[n++] = (uint8_t)x;
	ls_str_add_bytes(to, bytes, n);
}

static void add_tag(struct ls_str *to, uint32_t field, uint32_t wire)
{
	add_varint(to, (uint64_t)field << 3 | wire);
}

void ls_proto_int(struct ls_str *to, uint32_t field, uint64_t value)
{
	add_tag(to, field, VARINT);
	add_varint(to, value);
}

void ls_proto_head(struct ls_str *to, uint32_t field, uint64_t len)
{
	add_tag(to, field, LENGTH);
	add_varint(to, len);
}

void ls_proto_bytes(struct ls_str *to, uint32_t field, const void *bytes, size_t len)
{
	ls_proto_head(to, field, len);
	ls_str_add_bytes(to, bytes, len);
}

void ls_proto_text(struct ls_str *to, uint32_t field, const char *text)
{
	ls_proto_bytes(to, field, text, strlen(text));
}

void ls_proto_message_take(struct ls_str *to, uint32_t field, struct ls_str *inner)
{
	ls_proto_bytes(to, field, inner->s ? inner->s : "", inner->len);
	ls_str_done(inner);
}
