/* What the words of a YAML text mean: a constant, a number, or text. Everything is
 * borrowed. No state; any thread. */
#ifndef LS_COMPARE_YAML_WORDS_H
#define LS_COMPARE_YAML_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* What JSON writes for a plain word that is null, a truth value, infinite or NaN; else
 * NULL. */
const char *ls_yaml_constant(const char *s, size_t len);
/* A number as JSON writes it, which all versions of YAML take for one. */
bool ls_yaml_is_number(const char *s, size_t len);
/* Words that one version of YAML reads as text and another as something else: yes, 007,
 * 0x10, 1e-4, .5, 12:30, dates. */
bool ls_yaml_is_doubtful(const char *s, size_t len);
/* None of these. */
bool ls_yaml_is_text(const char *s, size_t len);

#endif
