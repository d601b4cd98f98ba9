/* What two manifests have different, for the command and the public function. One
 * thread. */
#ifndef LS_API_MANIFEST_H
#define LS_API_MANIFEST_H

#include "run/manifest.h"

/* ls_differences_done frees. */
int ls_manifest_explanation(const char *a, const char *b, struct ls_differences *ret,
			    struct ls_err *err);
/* NO: something differs that can change bits, or a result. */
enum ls_answer ls_differences_answer(const struct ls_differences *d);

#endif
