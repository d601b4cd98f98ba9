/* Whole files of two runs: zip archives by their members, event files by their
 * records. */
#include <stdlib.h>
#include <string.h>

#include "compare/own.h"
#include "tensor/zip.h"

enum { MEMBER_LIMIT = 64 << 20 }; /* bytes of a compressed member of a zip archive */

static bool same_stored(const struct ls_zip_member *a, const struct ls_zip_member *b)
{
	return !a->deflated && !b->deflated && a->size == b->size &&
	       memcmp(a->data, b->data, a->size) == 0;
}

static bool same_member(const struct ls_own *own, const struct ls_zip_member *a,
			const struct ls_zip_member *b)
{
	if (strcmp(a->name, b->name) != 0)
		return false;
	if (same_stored(a, b))
		return true;
	uint8_t *x = NULL, *y = NULL;
	bool same = ls_zip_extract(a, MEMBER_LIMIT, &x, NULL) == 0 &&
		    ls_zip_extract(b, MEMBER_LIMIT, &y, NULL) == 0 &&
		    ls_own_same(own, "", x, a->size, y, b->size);
	free(x);
	free(y);
	return same;
}

static bool same_zips(const struct ls_own *own, const struct ls_map *a, const struct ls_map *b)
{
	struct ls_zip x = {0}, y = {0};
	bool same = ls_zip_parse(a->data, a->len, "a", &x, NULL) == 0 &&
		    ls_zip_parse(b->data, b->len, "b", &y, NULL) == 0 && x.n == y.n;
	for (size_t i = 0; same && i < x.n; i++)
		same = same_member(own, &x.members[i], &y.members[i]);
	ls_zip_done(&x);
	ls_zip_done(&y);
	return same;
}

bool ls_own_same_file(const struct ls_own *own, const struct ls_map *a, const struct ls_map *b)
{
	if (a->len >= 4 && b->len >= 4 && memcmp(a->data, "PK\3\4", 4) == 0 &&
	    memcmp(b->data, "PK\3\4", 4) == 0)
		return same_zips(own, a, b);
	if (ls_own_is_events(a) && ls_own_is_events(b))
		return ls_own_same_events(own, a, b);
	return ls_own_same(own, "", a->data, a->len, b->data, b->len);
}
