/* Fields of a model that is trained a row at a time come in blocks, of as many as fill a cache
 * line, and blocks a and b meet in class (a + b) mod blocks. padded: factors, filled up (model.h).
 * Owns nothing; any thread. */
#ifndef LS_FM_CPU_ONLINE_CLASSES_H
#define LS_FM_CPU_ONLINE_CLASSES_H

#include <stdint.h>

enum { LS_FM_LINE = 16 }; /* floats of a cache line */

/* Fields that a cache line has room for; the block of a field, where the linear weights are before
 * field 0, and the first field of a block; blocks, which are as many as classes; the class in which
 * two blocks meet, and two fields. */
static inline uint32_t ls_online_line(uint32_t padded)
{
	return padded < LS_FM_LINE ? LS_FM_LINE / padded : 1;
}

static inline uint32_t ls_online_block(uint32_t field, uint32_t line)
{
	return (field + 1) / line;
}

static inline uint32_t ls_online_first(uint32_t block, uint32_t line)
{
	return block ? block * line - 1 : 0;
}

static inline uint32_t ls_online_classes(uint32_t fields, uint32_t padded)
{
	return ls_online_block(fields - 1, ls_online_line(padded)) + 1;
}

static inline uint32_t ls_online_meet(uint32_t a, uint32_t b, uint32_t classes)
{
	return a + b < classes ? a + b : a + b - classes;
}

static inline uint32_t ls_online_class(uint32_t f, uint32_t g, uint32_t line, uint32_t classes)
{
	return ls_online_meet(ls_online_block(f, line), ls_online_block(g, line), classes);
}

#endif
