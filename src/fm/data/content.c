#include "fm/data/content.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fm/data/lsd_format.h"

#define TABLE                                                                                      \
	"write it as CSV, of which `lockstep fm convert --label COLUMN` makes rows, or as a CSR "  \
	"matrix by scipy.sparse.save_npz"

static const struct {
	const char *name, *advice;
} contents[] = {
	[LS_CONTENT_TEXT] = {"text", NULL},
	[LS_CONTENT_LSD] = {"lsd", NULL},
	[LS_CONTENT_ZIP] = {"npz", NULL},
	[LS_CONTENT_NPY] = {"a .npy, which may hold labels or weights", NULL},
	[LS_CONTENT_SAFETENSORS] = {"safetensors, a model's", NULL},
	[LS_CONTENT_PACKED] = {"what xz, zstd or bzip2 has compressed",
			       "unpack it, into a pipe to - if need be; gzip is read as it is"},
	[LS_CONTENT_PARQUET] = {"a Parquet table", TABLE},
	[LS_CONTENT_ARROW] = {"an Arrow or Feather table", TABLE},
	[LS_CONTENT_HDF5] = {"HDF5", TABLE},
	[LS_CONTENT_PICKLE] = {"a Python pickle",
			       "reading one may run any program, so it is not read; " TABLE},
};

static const struct {
	const char *bytes;
	size_t len;
	enum ls_content content;
} magics[] = {
	{(const char *)ls_lsd_magic, sizeof ls_lsd_magic, LS_CONTENT_LSD},
	{"PK\3\4", 4, LS_CONTENT_ZIP},
	{"PK\5\6", 4, LS_CONTENT_ZIP},
	{"\3757zXZ", 5, LS_CONTENT_PACKED},
	{"\x28\xb5\x2f\xfd", 4, LS_CONTENT_PACKED},
	{"BZh", 3, LS_CONTENT_PACKED},
	{"\x93NUMPY", 6, LS_CONTENT_NPY},
	{"PAR1", 4, LS_CONTENT_PARQUET},
	{"ARROW1", 6, LS_CONTENT_ARROW},
	{"FEA1", 4, LS_CONTENT_ARROW},
	{"\x89HDF\r\n\x1a\n", 8, LS_CONTENT_HDF5},
	{"\x80\2", 2, LS_CONTENT_PICKLE}, /* protocols 2 to 5; text cannot begin so */
	{"\x80\3", 2, LS_CONTENT_PICKLE},
	{"\x80\4", 2, LS_CONTENT_PICKLE},
	{"\x80\5", 2, LS_CONTENT_PICKLE},
};

bool ls_content_is_gzip(const void *bytes, size_t len)
{
	return len >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0;
}

/* The length of a safetensors header, of which three more bytes are 0. */
static bool is_safetensors(const void *bytes, size_t len)
{
	return len >= 8 && !ls_content_is_gzip(bytes, len) &&
	       memcmp((const char *)bytes + 4, "\0\0\0", 4) == 0;
}

enum ls_content ls_content_of(const void *bytes, size_t len)
{
	for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
		if (len >= magics[i].len && memcmp(bytes, magics[i].bytes, magics[i].len) == 0)
			return magics[i].content;
	return is_safetensors(bytes, len) ? LS_CONTENT_SAFETENSORS : LS_CONTENT_TEXT;
}

const char *ls_content_name(enum ls_content content)
{
	return contents[content].name;
}

const char *ls_content_advice(enum ls_content content)
{
	return contents[content].advice;
}

static bool is_printable(const unsigned char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((bytes[i] < ' ' && !strchr("\t\r\n", bytes[i])) || bytes[i] == 0x7f)
			return false;
	return len > 0;
}

const char *ls_content_not_model(const char *path, bool *ret_rows)
{
	unsigned char bytes[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
	if (fd >= 0)
		close(fd);
	if (n < LS_CONTENT_MAGIC)
		return NULL;
	enum ls_content content = ls_content_of(bytes, (size_t)n);
	bool gzip = ls_content_is_gzip(bytes, (size_t)n);
	if (content == LS_CONTENT_SAFETENSORS ||
	    (content == LS_CONTENT_TEXT && !gzip && !is_printable(bytes, (size_t)n)))
		return NULL;
	*ret_rows = content <= LS_CONTENT_ZIP;
	return gzip ? "gzip" : contents[content].name;
}
