/* For functions whose arguments choose code when it is compiled. Owns nothing. */
#ifndef LS_BASE_INLINE_H
#define LS_BASE_INLINE_H

#define INLINE static inline __attribute__((always_inline))

#endif
