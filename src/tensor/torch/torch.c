#include "tensor/torch/torch.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { PICKLE_LIMIT = 256 << 20 };

const struct ls_zip_member *ls_torch_pickle_of(const struct ls_zip *zip)
{
	for (size_t i = 0; i < zip->n; i++) {
		const char *slash = strchr(zip->members[i].name, '/');
		if (slash && strcmp(slash, "/data.pkl") == 0)
			return &zip->members[i];
	}
	return NULL;
}

/* Torch of 2016 wrote a tar of four members with these names; each may have a header of extended
 * attributes before it.
 */
static bool is_legacy_tar(const uint8_t *data, size_t len)
{
	static const char *const members[] = {"sys_info", "pickle", "tensors", "storages"};
	enum { BLOCK = 512, NAME = 100, SIZE = 124, TYPE = 156, MAGIC = 257 };
	for (size_t at = 0; len - at > BLOCK && memcmp(data + at + MAGIC, "ustar", 5) == 0;) {
		const char *head = (const char *)data + at;
		for (size_t i = 0; i < sizeof members / sizeof *members; i++)
			if (strncmp(head, members[i], NAME) == 0)
				return true;
		if (head[TYPE] != 'x' && head[TYPE] != 'g')
			return false;
		uint64_t size = 0;
		for (const char *p = head + SIZE; p < head + SIZE + 11 && *p >= '0' && *p <= '7';
		     p++)
			size = size * 8 + (uint64_t)(*p - '0');
		size = BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK;
		if (size > len - at)
			return false;
		at += size;
	}
	return false;
}

const char *ls_torch_legacy(const uint8_t *data, size_t len)
{
	static const uint8_t magic[] = {0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9,
					0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e};
	if (len > 2 + sizeof magic && data[0] == 0x80 && memcmp(data + 2, magic, sizeof magic) == 0)
		return "a PyTorch checkpoint in the format before 1.6 (a row of pickles); load and "
		       "save it once with "
		       "torch 1.6 or later to have it compared by tensor";
	if (is_legacy_tar(data, len))
		return "a PyTorch checkpoint in the tar format of 2016; load and save it once with "
		       "torch 1.6 or later "
		       "to have it compared by tensor";
	return NULL;
}

/* TorchScript keeps programs beside its data; those are compared as bytes or not at all. */
static int refuse_script(const struct ls_zip *zip, const char *prefix, size_t len,
			 struct ls_err *err)
{
	for (size_t i = 0; i < zip->n; i++) {
		const char *name = zip->members[i].name;
		if (strncmp(name, prefix, len) == 0 && (strncmp(name + len, "/code/", 6) == 0 ||
							strcmp(name + len, "/constants.pkl") == 0))
			return ls_err_set(
				err, LS_EINPUT,
				"a TorchScript archive (%.100s holds a program); compare its "
				"state_dict saved with torch.save instead",
				name);
	}
	return 0;
}

static int check_byteorder(const struct ls_zip *zip, const char *prefix, bool *ret_big,
			   struct ls_err *err)
{
	char *name = ls_xasprintf("%s/byteorder", prefix);
	const struct ls_zip_member *m = ls_zip_find(zip, name);
	free(name);
	*ret_big = false;
	if (!m)
		return 0; /* before torch 2.1: little-endian */
	uint8_t *text = NULL;
	int rc = ls_zip_extract(m, 64, &text, err);
	if (rc)
		return rc;
	*ret_big = m->size == 3 && memcmp(text, "big", 3) == 0;
	bool known = *ret_big || (m->size == 6 && memcmp(text, "little", 6) == 0);
	free(text);
	return known ? 0 : ls_err_set(err, LS_EINPUT, "byteorder is neither little nor big");
}

/* The pickle as it lies in the archive, or inflated into the bundle. */
static int pickle_bytes(struct ls_bundle *b, const struct ls_zip_member *m, const uint8_t **ret,
			struct ls_err *err)
{
	uint8_t *made = NULL;
	if (!m->deflated) {
		*ret = m->data;
		return 0;
	}
	int rc = ls_zip_extract(m, PICKLE_LIMIT, &made, err);
	if (rc == 0)
		*ret = ls_bundle_keep_take(b, made);
	return rc;
}

static int read_archive(struct ls_bundle *b, const struct ls_zip *zip, struct ls_err *err)
{
	const struct ls_zip_member *m = ls_torch_pickle_of(zip);
	if (!m)
		return ls_err_set(err, LS_EINPUT,
				  "a zip archive without data.pkl: not a PyTorch checkpoint");
	size_t len = (size_t)(strchr(m->name, '/') - m->name);
	char *prefix = ls_xstrndup(m->name, len);
	const uint8_t *data = NULL;
	bool big = false;
	struct ls_pickle *p = NULL;
	int rc = refuse_script(zip, prefix, len, err);
	if (rc == 0)
		rc = check_byteorder(zip, prefix, &big, err);
	if (rc == 0)
		rc = pickle_bytes(b, m, &data, err);
	if (rc == 0)
		rc = ls_pickle_parse(data, m->size, ls_torch_globals(), &p, err);
	if (rc == 0)
		rc = ls_torch_flatten(b, p, zip, prefix, big, err);
	ls_pickle_free(p);
	free(prefix);
	return rc;
}

int ls_torch_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		   struct ls_err *err)
{
	const char *legacy = ls_torch_legacy(data, len);
	if (legacy)
		return ls_err_set(err, LS_EINPUT, "%s: %s", path, legacy);
	struct ls_zip *zip = ls_bundle_keep_zip(b);
	int rc = ls_zip_parse(data, len, path, zip, err);
	if (rc)
		return rc;
	rc = read_archive(b, zip, err);
	if (rc)
		return ls_err_prefix(err, "%s", path);
	return ls_bundle_seal(b, path, err);
}

int ls_torch_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("PyTorch");
	struct ls_map map;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0)
		rc = ls_torch_parse(b, map.data, map.len, path, err);
	return ls_bundle_hand_take(b, rc, ret);
}
