/* What a file holds, by its first bytes: rows in one of their forms, a model, or something
 * that people have in their folders and give by mistake. Static strings; any thread. */
#ifndef LS_FM_DATA_CONTENT_H
#define LS_FM_DATA_CONTENT_H

#include <stdbool.h>
#include <stddef.h>

enum ls_content {
	LS_CONTENT_TEXT, /* and whatever is nothing below */
	LS_CONTENT_LSD,
	LS_CONTENT_ZIP,
	LS_CONTENT_NPY,
	LS_CONTENT_SAFETENSORS,
	LS_CONTENT_PACKED,
	LS_CONTENT_PARQUET,
	LS_CONTENT_ARROW,
	LS_CONTENT_HDF5,
	LS_CONTENT_PICKLE
};

enum { LS_CONTENT_MAGIC = 8 }; /* bytes that tell */

enum ls_content ls_content_of(const void *bytes, size_t len);
bool ls_content_is_gzip(const void *bytes, size_t len);

/* A noun for messages, and for what is not rows what to do instead, or NULL. */
const char *ls_content_name(enum ls_content content);
const char *ls_content_advice(enum ls_content content);

/* What a file holds that is no model: "text", "gzip", …, and in *ret_rows whether rows come
 * in such a form. NULL: it cannot be told, or could be a model. */
const char *ls_content_not_model(const char *path, bool *ret_rows);

#endif
