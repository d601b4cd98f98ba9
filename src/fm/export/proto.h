/* Protobuf's wire format, as much of it as writing an ONNX model takes. A message is built
 * in a string, innermost first; the string is the caller's (ls_str_done). Any thread. */
#ifndef LS_FM_EXPORT_PROTO_H
#define LS_FM_EXPORT_PROTO_H

#include <stdint.h>

#include "base/str.h"

void ls_proto_int(struct ls_str *to, uint32_t field, uint64_t value);
void ls_proto_bytes(struct ls_str *to, uint32_t field, const void *bytes, size_t len);
void ls_proto_text(struct ls_str *to, uint32_t field, const char *text);
/* Frees the inner message. */
void ls_proto_message_take(struct ls_str *to, uint32_t field, struct ls_str *inner);
/* The beginning of a field of len bytes, which the caller writes behind it. */
void ls_proto_head(struct ls_str *to, uint32_t field, uint64_t len);

#endif
