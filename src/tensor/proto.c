#include "tensor/proto.h"

uint64_t ls_little(const uint8_t *p, int bytes)
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
		f.value = ls_little(f.data, (int)len);
	*p += len;
	*left -= len;
	*ret = f;
	return true;
}

uint32_t ls_masked_crc(const uint8_t *p, size_t n)
{
	/* of the polynomial 0x82f63b78, four bits at a time */
	static const uint32_t nibble[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
					    0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
					    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
					    0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
	uint32_t crc = ~0U;
	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
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
	if (left < HEAD + TAIL || ls_masked_crc(p, 8) != ls_little(p + 8, 4))
		return false;
	uint64_t n = ls_little(p, 8);
	if (n > left - HEAD - TAIL || ls_masked_crc(p + HEAD, n) != ls_little(p + HEAD + n, 4))
		return false;
	*ret = p + HEAD;
	*ret_len = n;
	*at += HEAD + n + TAIL;
	return true;
}
