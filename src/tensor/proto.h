/* What TensorFlow's files are made of: protobuf messages without generated code, and
 * records of a length, a checksum, bytes and a checksum. Everything is borrowed; any
 * thread. */
#ifndef LS_TENSOR_PROTO_H
#define LS_TENSOR_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LS_WIRE_VARINT, LS_WIRE_8, LS_WIRE_BYTES, LS_WIRE_4 = 5 };

struct ls_field {
	uint64_t number;
	int wire;
	uint64_t value;      /* of a varint, of eight or of four bytes */
	const uint8_t *data; /* as it is written; of bytes without their length */
	size_t len;
};

/* A number of so many bytes, the lowest first. */
uint64_t ls_little(const uint8_t *p, int bytes);
bool ls_varint(const uint8_t **p, size_t *left, uint64_t *ret);
/* The next field of a message; moves on behind it. False when what is left is no
 * field. */
bool ls_field_next(const uint8_t **p, size_t *left, struct ls_field *ret);

/* CRC-32C of bytes, rotated and shifted as TensorFlow's files have it. */
uint32_t ls_masked_crc(const uint8_t *p, size_t n);
/* The record at *at; moves on behind it. False when this is none, or a damaged one. */
bool ls_tfrecord_next(const uint8_t *data, size_t len, size_t *at, const uint8_t **ret,
		      size_t *ret_len);

#endif
