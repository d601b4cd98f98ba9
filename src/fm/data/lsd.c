#include "fm/data/lsd.h"

#include <float.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "fm/data/lsd_format.h"

const uint8_t ls_lsd_magic[8] = {0x89, 'L', 'S', 'D', '\r', '\n', 0x1a, '\n'};
const uint8_t ls_lsd_element[LS_LSD_SECTIONS] = {8, 4, 2, 4, 4, 4};
static const char *const section_name[LS_LSD_SECTIONS] = {"start", "feature", "field",
							  "value", "label",   "weight"};

void ls_lsd_place(struct ls_lsd_header *h)
{
	uint64_t at = LS_LSD_PAGE;
	for (int i = 0; i < LS_LSD_SECTIONS; i++) {
		struct ls_lsd_section *s = &h->section[i];
		s->offset = s->bytes ? at : 0;
		at += (s->bytes + LS_LSD_PAGE - 1) / LS_LSD_PAGE * LS_LSD_PAGE;
	}
	h->file_bytes = at;
}

uint64_t ls_lsd_header_sum(const struct ls_lsd_header *h)
{
	return ls_xxh64(h, offsetof(struct ls_lsd_header, checksum));
}

static int bad(struct ls_err *err, const char *name, const char *what)
{
	return ls_err_set(err, LS_EINPUT, "%s: %s; convert the data again", name, what);
}

static bool all_zero(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i])
			return false;
	return true;
}

/* Sizes follow from the counts, offsets from the sizes: there is one right header for
 * given data. */
static bool sizes_agree(const struct ls_lsd_header *h, uint64_t len)
{
	struct ls_lsd_header want = *h;
	const uint64_t count[LS_LSD_SECTIONS] = {h->n_rows + 1, h->n_entries, h->n_entries,
						 h->n_entries,  h->n_rows,    h->n_rows};
	if (h->n_rows >= len / 8 || h->n_entries > len / 4)
		return false;
	for (int i = 0; i < LS_LSD_SECTIONS; i++) {
		uint64_t bytes = count[i] * ls_lsd_element[i];
		bool optional = i >= LS_LSD_VALUE, absent = i == LS_LSD_FIELD && h->n_fields == 0;
		if (h->section[i].bytes != (absent ? 0 : bytes) &&
		    !(optional && h->section[i].bytes == 0))
			return false;
	}
	ls_lsd_place(&want);
	for (int i = 0; i < LS_LSD_SECTIONS; i++)
		if (want.section[i].offset != h->section[i].offset || h->section[i].zero)
			return false;
	return want.file_bytes == h->file_bytes && h->file_bytes == len;
}

static int check_header(const char *name, const struct ls_map *map, struct ls_err *err)
{
	const struct ls_lsd_header *h = (const void *)map->data;
	if (map->len < 12 || memcmp(h->magic, ls_lsd_magic, sizeof h->magic) != 0)
		return ls_err_set(err, LS_EINPUT, "%s: not an .lsd file", name);
	if (h->version != LS_LSD_VERSION)
		return ls_err_set(err, LS_EINPUT,
				  "%s: .lsd version %u; this program reads version %d", name,
				  h->version, LS_LSD_VERSION);
	if (map->len < LS_LSD_PAGE)
		return bad(err, name, "cut short within the header");
	if (ls_lsd_header_sum(h) != h->checksum)
		return bad(err, name, "damaged: the header does not match its checksum");
	if (h->file_bytes != map->len)
		return ls_err_set(err, LS_EINPUT,
				  "%s: %zu bytes where %llu were written; convert the data again",
				  name, map->len, (unsigned long long)h->file_bytes);
	bool ok = h->header_bytes == LS_LSD_PAGE && h->n_sections == LS_LSD_SECTIONS &&
		  h->zero == 0 && all_zero(h->padding, sizeof h->padding) && h->n_fields <= 65536 &&
		  h->n_features <= (uint64_t)UINT32_MAX + 1 && sizes_agree(h, map->len);
	return ok ? 0 : bad(err, name, "the header contradicts itself");
}

/* --- contents, a chunk a task --- */

struct check {
	const struct ls_map *map;
	const struct ls_lsd_header *h;
	size_t first[LS_LSD_SECTIONS + 1]; /* the first task of each section */
	uint64_t *sum;                     /* per task */
	uint32_t *max;                     /* per task: largest feature or field number */
	bool *bad;                         /* per task */
};

static bool ascending(const uint64_t *a, uint64_t from, uint64_t n, uint64_t total,
		      uint64_t n_entries)
{
	bool ok = from ? a[-1] <= a[0] : a[0] == 0;
	for (uint64_t i = 1; i < n; i++)
		ok &= a[i - 1] <= a[i];
	return ok && a[n - 1] <= n_entries && (from + n < total || a[n - 1] == n_entries);
}

static uint32_t max32(const uint32_t *a, uint64_t n)
{
	uint32_t max = 0;
	for (uint64_t i = 0; i < n; i++)
		max = a[i] > max ? a[i] : max;
	return max;
}

static uint16_t max16(const uint16_t *a, uint64_t n)
{
	uint16_t max = 0;
	for (uint64_t i = 0; i < n; i++)
		max = a[i] > max ? a[i] : max;
	return max;
}

static bool within(const float *a, uint64_t n, float least)
{
	bool ok = true;
	for (uint64_t i = 0; i < n; i++)
		ok &= a[i] >= least && a[i] <= FLT_MAX; /* false for NaN */
	return ok;
}

static void check_chunk(void *ctx, size_t task)
{
	struct check *c = ctx;
	int i = 0;
	while (task >= c->first[i + 1])
		i++;
	const struct ls_lsd_section *s = &c->h->section[i];
	uint64_t at = (task - c->first[i]) * (uint64_t)LS_LSD_CHUNK, len = s->bytes - at;
	len = len < LS_LSD_CHUNK ? len : LS_LSD_CHUNK;
	const void *data = c->map->data + s->offset + at;
	uint64_t n = len / ls_lsd_element[i], from = at / ls_lsd_element[i];
	c->sum[task] = ls_xxh64(data, len);
	bool ok = true;
	if (i == LS_LSD_START)
		ok = ascending(data, from, n, c->h->n_rows + 1, c->h->n_entries);
	else if (i == LS_LSD_FEATURE)
		c->max[task] = max32(data, n);
	else if (i == LS_LSD_FIELD)
		c->max[task] = max16(data, n);
	else
		ok = within(data, n, i == LS_LSD_WEIGHT ? 0 : -FLT_MAX);
	c->bad[task] = !ok;
}

static bool padding_is_zero(const struct ls_map *map, const struct ls_lsd_section *s)
{
	uint64_t end = s->offset + s->bytes, pad = (LS_LSD_PAGE - end % LS_LSD_PAGE) % LS_LSD_PAGE;
	return all_zero(map->data + end, pad);
}

static int judge(const char *name, const struct check *c, int i, struct ls_err *err)
{
	const struct ls_lsd_section *s = &c->h->section[i];
	size_t from = c->first[i], n = c->first[i + 1] - from;
	if (n == 0)
		return 0;
	if (ls_xxh64(c->sum + from, n * sizeof *c->sum) != s->checksum ||
	    !padding_is_zero(c->map, s))
		return ls_err_set(err, LS_EINPUT,
				  "%s: damaged: the %s section does not match its checksum", name,
				  section_name[i]);
	uint64_t max = 0;
	bool wrong = false;
	for (size_t t = from; t < from + n; t++) {
		wrong |= c->bad[t];
		max = c->max[t] > max ? c->max[t] : max;
	}
	if (i == LS_LSD_FEATURE)
		wrong = max + 1 != c->h->n_features;
	if (i == LS_LSD_FIELD)
		wrong = max + 1 != c->h->n_fields;
	return wrong ? ls_err_set(err, LS_EINPUT, "%s: the %s section holds impossible numbers",
				  name, section_name[i])
		     : 0;
}

static int check_contents(const char *name, const struct ls_map *map, int threads,
			  struct ls_err *err)
{
	struct check c = {.map = map, .h = (const void *)map->data};
	for (int i = 0; i < LS_LSD_SECTIONS; i++)
		c.first[i + 1] =
			c.first[i] + (c.h->section[i].bytes + LS_LSD_CHUNK - 1) / LS_LSD_CHUNK;
	size_t tasks = c.first[LS_LSD_SECTIONS];
	c.sum = ls_xalloc(tasks * sizeof *c.sum);
	c.max = ls_xalloc(tasks * sizeof *c.max);
	c.bad = ls_xalloc(tasks * sizeof *c.bad);
	ls_parallel(threads, tasks, check_chunk, &c);
	int rc = 0;
	for (int i = 0; i < LS_LSD_SECTIONS && rc == 0; i++)
		rc = judge(name, &c, i, err);
	if (rc == 0 && c.h->n_entries == 0 && (c.h->n_features || c.h->n_fields))
		rc = bad(err, name, "the header contradicts itself");
	free(c.sum);
	free(c.max);
	free(c.bad);
	return rc;
}

static const void *section(const struct ls_map *map, int i)
{
	const struct ls_lsd_header *h = (const void *)map->data;
	return h->section[i].bytes ? map->data + h->section[i].offset : NULL;
}

uint64_t ls_lsd_sum(const struct ls_map *map)
{
	const struct ls_lsd_header *h = (const void *)map->data;
	return h->checksum;
}

int ls_lsd_view(const char *name, const struct ls_map *map, int threads, struct ls_rows *ret,
		struct ls_err *err)
{
	int rc = check_header(name, map, err);
	if (rc == 0)
		rc = check_contents(name, map, threads, err);
	if (rc)
		return rc;
	static const uint32_t none[1];
	const struct ls_lsd_header *h = (const void *)map->data;
	*ret = (struct ls_rows){
		.n_rows = h->n_rows,
		.n_entries = h->n_entries,
		.n_features = h->n_features,
		.n_fields = h->n_fields,
		.start = section(map, LS_LSD_START),
		.feature = h->n_entries ? section(map, LS_LSD_FEATURE) : none,
		.field = section(map, LS_LSD_FIELD),
		.value = section(map, LS_LSD_VALUE),
		.label = section(map, LS_LSD_LABEL),
		.weight = section(map, LS_LSD_WEIGHT),
	};
	return 0;
}
