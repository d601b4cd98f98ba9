/* .lsd as it comes, and with its checksums put right, so that what lies behind them is
 * reached too.
 */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "fm/data/data.h"
#include "fm/data/lsd.h"
#include "fm/data/lsd_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void view(const uint8_t *bytes, size_t size)
{
	struct ls_map map = {bytes, size};
	struct ls_rows rows;
	struct ls_err err;
	char hex[65];
	if (ls_lsd_view("fuzz", &map, 1, &rows, &err) == 0)
		ls_rows_digest(&rows, 1, hex); /* touches every element */
}

static void put_right(uint8_t *b, size_t size)
{
	struct ls_lsd_header *h = (void *)b;
	for (int i = 0; i < LS_LSD_SECTIONS; i++) {
		struct ls_lsd_section *s = &h->section[i];
		if (s->bytes == 0 || s->offset > size || s->bytes > size - s->offset)
			continue;
		uint64_t sum =
			ls_xxh64(b + s->offset, s->bytes); /* inputs are smaller than a chunk */
		s->checksum = ls_xxh64(&sum, sizeof sum);
	}
	memcpy(h->magic, ls_lsd_magic, sizeof h->magic);
	h->version = LS_LSD_VERSION;
	h->file_bytes = size;
	h->checksum = ls_lsd_header_sum(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1); /* aligned, and exactly as long as the input */
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	view(copy, size);
	if (size >= LS_LSD_PAGE) {
		put_right(copy, size);
		view(copy, size);
	}
	free(copy);
	return 0;
}
