/* Functions that are always inlined, because their constant arguments select code at
 * compile time. Owns nothing; any thread. */
#ifndef LS_BASE_INLINE_H
#define LS_BASE_INLINE_H

#define INLINE static inline __attribute__((always_inline))

#endif
