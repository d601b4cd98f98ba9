#include "tensor/proto.h"

static uint64_t little(const uint8_t *p, int bytes)
{
	uint64_t v = 0;
	for (int i = bytes; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

bool ls_varint(const uint8_t **p, size_t *left, uint64_t *ret)
{
	uint64_t v = 0;
	for (int shift = 0; *left && shift < 64; shift += 7) {
		uint8_t byte = *(*p)++;
		--*left;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

bool ls_field_next(const uint8_t **p, size_t *left, struct ls_field *ret)
{
	uint64_t tag, len;
	if (!ls_varint(p, left, &tag))
		return false;
	struct ls_field f = {.number = tag >> 3, .wire = (int)(tag & 7), .data = *p};
	size_t before = *left;
	if (f.wire == LS_WIRE_VARINT) {
		if (!ls_varint(p, left, &f.value))
			return false;
		f.len = before - *left;
		*ret = f;
		return true;
	}
	len = f.wire == LS_WIRE_8 ? 8 : 4;
	if ((f.wire == LS_WIRE_BYTES && !ls_varint(p, left, &len)) || f.wire == 3 || f.wire == 4 ||
	    f.wire > LS_WIRE_4 || len > *left)
		return false;
	f.data = *p;
	f.len = len;
	if (f.wire != LS_WIRE_BYTES)
		f.value = little(f.data, (int)len);
	*p += len;
	*left -= len;
	*ret = f;
	return true;
}

uint32_t ls_masked_crc(const uint8_t *p, size_t n)
{
	uint32_t crc = ~0U;
	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0);
	}
	crc = ~crc;
	return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

bool ls_tfrecord_next(const uint8_t *data, size_t len, size_t *at, const uint8_t **ret,
		      size_t *ret_len)
{
	enum { HEAD = 12, TAIL = 4 };
	const uint8_t *p = data + *at;
	size_t left = len - *at;
	if (left < HEAD + TAIL || ls_masked_crc(p, 8) != little(p + 8, 4))
		return false;
	uint64_t n = little(p, 8);
	if (n > left - HEAD - TAIL || ls_masked_crc(p + HEAD, n) != little(p + HEAD + n, 4))
		return false;
	*ret = p + HEAD;
	*ret_len = n;
	*at += HEAD + n + TAIL;
	return true;
}
