/* Error codes and the sentence that goes with them. A fallible function returns 0 or a
 * negative LS_E*, and on failure fills the caller's struct ls_err. NULL is accepted. No
 * global state; any thread. */
#ifndef LS_BASE_ERR_H
#define LS_BASE_ERR_H

#include "lockstep.h" /* the codes and struct ls_err */

/* The exit status that a code stands for (ls_cmd_status): EINPUT and ENOENT 2, EUNKNOWN 3,
 * EDIFFER 1, EINTR 130, the others 4. */

/* Fills err (unless NULL) and returns code, so that `return ls_err_set(...)` reads
 * well. */
int ls_err_set(struct ls_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for a failed system call: the code follows errno (LS_ENOENT, LS_EINPUT for a
 * folder, LS_EIO …), the message is "path: cannot verb: reason". */
int ls_err_errno(struct ls_err *err, const char *path, const char *verb);
/* Puts "prefix: " before the message. */
int ls_err_prefix(struct ls_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Puts what to do behind the message: "; advice". err may be NULL. */
void ls_err_advise(struct ls_err *err, const char *advice);

/* clang-tidy looks at one file at a time and cannot see that these never return 0. */
#if defined(__clang_analyzer__) && !defined(LS_BASE_ERR_C)
static inline int ls_err_never_zero(int code)
{
	if (code >= 0)
		__builtin_unreachable();
	return code;
}
#define ls_err_set(...)    ls_err_never_zero(ls_err_set(__VA_ARGS__))
#define ls_err_errno(...)  ls_err_never_zero(ls_err_errno(__VA_ARGS__))
#define ls_err_prefix(...) ls_err_never_zero(ls_err_prefix(__VA_ARGS__))
#endif

#endif
