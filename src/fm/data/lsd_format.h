/* The bytes of .lsd that reader and writer share: one page of header, then the sections,
 * each on a page boundary. Plain structs, nothing owned; any thread. All numbers are
 * little-endian, and so is every machine this is built for: arrays are used in place. */
#ifndef LS_FM_DATA_LSD_FORMAT_H
#define LS_FM_DATA_LSD_FORMAT_H

#include <stdint.h>

#include "fm/data/rows.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, ".lsd arrays are used in place");

enum { LS_LSD_VERSION = 1, LS_LSD_PAGE = 4096, LS_LSD_CHUNK = 4 << 20 };
enum {
	LS_LSD_START,
	LS_LSD_FEATURE,
	LS_LSD_FIELD,
	LS_LSD_VALUE,
	LS_LSD_LABEL,
	LS_LSD_WEIGHT,
	LS_LSD_SECTIONS
};

struct ls_lsd_section {
	uint64_t offset; /* from the start of the file; 0 when absent */
	uint64_t bytes;
	/* XXH3-64 of the XXH3-64s of its chunks of LS_LSD_CHUNK bytes; 0 when absent */
	uint64_t checksum;
	uint64_t zero;
};

struct ls_lsd_header {
	uint8_t magic[8];
	uint32_t version;
	uint32_t header_bytes; /* LS_LSD_PAGE */
	uint64_t file_bytes;
	uint64_t n_rows, n_entries, n_features;
	uint32_t n_fields;
	uint32_t n_sections; /* LS_LSD_SECTIONS */
	uint64_t zero;
	struct ls_lsd_section section[LS_LSD_SECTIONS];
	uint8_t padding[LS_LSD_PAGE - 64 - LS_LSD_SECTIONS * sizeof(struct ls_lsd_section) - 8];
	uint64_t checksum; /* XXH3-64 of all of the above */
};

_Static_assert(sizeof(struct ls_lsd_header) == LS_LSD_PAGE, "the header is one page without holes");

extern const uint8_t ls_lsd_magic[8];
extern const uint8_t ls_lsd_element[LS_LSD_SECTIONS]; /* bytes an element */

/* Fills offsets and file_bytes from the sizes of the sections, which must not overflow
 * when added up. */
void ls_lsd_place(struct ls_lsd_header *h);
uint64_t ls_lsd_header_sum(const struct ls_lsd_header *h);

#endif
