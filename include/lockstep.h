/* lockstep: machine-learning runs repeatable to the last bit. The only public header.
 *
 * Objects are opaque: `…_new` and its like make one, `…_free` frees it and accepts NULL.
 * Strings returned as const char * are borrowed and live as long as what they were asked
 * of. A char * or void * that a call gives away is freed by ls_free.
 *
 * A call that can fail returns 0 or a negative LS_E… and fills the caller's struct ls_err,
 * unless that is NULL. On failure what it would have returned by pointer is left alone.
 *
 * Any thread may call anything; one object is used by one call at a time, unless all of
 * them only read it. The library prints nothing, and leaves signal handlers, the locale
 * and the floating-point mode of its host as they are. */
#ifndef LOCKSTEP_H
#define LOCKSTEP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define LS_API __attribute__((visibility("default")))
#else
#define LS_API
#endif

enum ls_code {
	LS_OK = 0,
	LS_EINPUT = -1,    /* bad usage or bad input */
	LS_EUNKNOWN = -2,  /* cannot tell here: no GPU, no driver, a tool is missing */
	LS_EIO = -3,       /* the machine refused: disk full, permission */
	LS_ENOMEM = -4,    /* no memory */
	LS_EINTERNAL = -5, /* a defect in lockstep */
	LS_ENOENT = -6,    /* a named file is not there */
	LS_EINTR = -7,     /* stopped on request, state saved */
	LS_EDIFFER = -8    /* a real negative answer; numbers that left the finite range */
};

struct ls_err {
	int code;       /* an enum ls_code */
	char msg[1024]; /* what was wrong, where, what to do; no newline at the end */
};

/* "MAJOR.MINOR.PATCH" of the library that is linked, not of this header. */
LS_API const char *ls_version(void);
/* Version of the arithmetic: two libraries with the same number compute the same bits
 * from the same input. */
LS_API int ls_numerics_version(void);
/* Frees a string or a block that a call gave away; accepts NULL. */
LS_API void ls_free(void *p);

#ifdef __cplusplus
}
#endif

#endif
