/* The parts of a spec that are not checks (name, image, requirements, CI), and the
 * questions asked of their texts. For spec.c and its neighbours only; results belong to
 * the spec. No state; any thread. */
#ifndef LS_ENV_SPEC_SPEC_FIELDS_H
#define LS_ENV_SPEC_SPEC_FIELDS_H

#include "env/spec/spec.h"

int ls_spec_parse_fields(struct ls_spec *spec, struct ls_err *err);
void ls_spec_free_fields(struct ls_spec *spec);

/* Member key of object as a printable text: *ret stays NULL when it is not there. */
int ls_spec_text(const json_t *object, const char *key, const char *where, char **ret,
		 struct ls_err *err);
/* Member key as an object with no other keys than these; *ret is NULL when it is not
 * there. */
int ls_spec_object(const json_t *object, const char *key, const char *path, const char *const *keys,
		   const json_t **ret, struct ls_err *err);
bool ls_spec_is_package(const char *name);
bool ls_spec_is_variable(const char *name);

#endif
