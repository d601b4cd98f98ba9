/* Files of metrics and printed lines: the first byte says which. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "job/metric_file.h"
#include "job/tfevents.h"
#include "tensor/proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A record around the data, so that the checksums do not keep everything out. */
static void event(const uint8_t *data, size_t size, struct ls_points *p)
{
	uint8_t *record = ls_xalloc(size + 16);
	for (int i = 0; i < 8; i++)
		record[i] = (uint8_t)(size >> 8 * i);
	memcpy(record + 12, data, size);
	uint32_t head = ls_masked_crc(record, 8), body = ls_masked_crc(data, size);
	for (int i = 0; i < 4; i++) {
		record[8 + i] = (uint8_t)(head >> 8 * i);
		record[12 + size + (size_t)i] = (uint8_t)(body >> 8 * i);
	}
	size_t whole;
	ls_tfevents_read(record, size + 16, p, &whole, NULL);
	free(record);
}

/* The pattern is the first line. */
static void printed(const char *text, size_t size, struct ls_points *p)
{
	const char *newline = memchr(text, '\n', size);
	size_t n = newline ? (size_t)(newline - text) : 0;
	char *pattern = ls_xstrndup(text, n);
	ls_metric_printed(text + n, size - n, pattern, p, NULL);
	free(pattern);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_points p = {0};
	bool cut = false;
	if (size == 0)
		return 0;
	const char *text = (const char *)data + 1;
	int kind = data[0] & 7;
	if (kind == 6)
		event(data + 1, size - 1, &p);
	else if (kind == 7)
		printed(text, size - 1, &p);
	else
		ls_metric_text_read((enum ls_metric_kind)kind, text, size - 1, size & 1, &p, &cut,
				    NULL);
	ls_points_done(&p);
	return 0;
}
