/* lockstep: machine-learning runs repeatable to the last bit. The only public header.
 * Types are opaque; strings returned as const char * are borrowed and live for ever
 * unless said otherwise. Any thread may call anything. */
#ifndef LOCKSTEP_H
#define LOCKSTEP_H

#ifdef __cplusplus
extern "C" {
#endif

/* "MAJOR.MINOR.PATCH" of the library that is linked, not of this header. */
const char *ls_version(void);
/* Version of the arithmetic: two libraries with the same number compute the same bits
 * from the same input. */
int ls_numerics_version(void);

#ifdef __cplusplus
}
#endif

#endif
