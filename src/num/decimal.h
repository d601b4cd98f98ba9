/* Decimal text to binary32, correctly rounded (nearest, ties to even), and back, the same
 * on every machine and in every locale. Nothing is owned or kept; any thread. The text
 * that is read must be followed by a byte that cannot belong to a number (the readers end
 * every text with a newline). */
#ifndef LS_NUM_DECIMAL_H
#define LS_NUM_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

enum ls_decimal_fault {
	LS_DECIMAL_OK = 0,
	LS_DECIMAL_GARBAGE,  /* not [+-]digits[.digits][e[+-]digits] */
	LS_DECIMAL_INFINITE, /* nan, inf, infinity */
	LS_DECIMAL_RANGE,    /* rounds to infinity in binary32 */
};

/* Returns the byte after the number, or NULL with *ret_fault set and *ret untouched. */
const char *ls_decimal_float(const char *p, float *ret, enum ls_decimal_fault *ret_fault);

/* What the fault is called in messages: "not a number". */
const char *ls_decimal_fault_text(enum ls_decimal_fault fault);

/* v with 9 significant digits, from which every binary32 can be read back: the text of
 * printf's "%.9g", ended by 0. Returns its length. */
enum { LS_DECIMAL_TEXT = 32 };
size_t ls_decimal_print(float v, char ret[LS_DECIMAL_TEXT]);

#endif
