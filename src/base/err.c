#define LS_BASE_ERR_C
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int ls_err_set(struct ls_err *err, int code, const char *fmt, ...)
{
	if (!err)
		return code;
	err->code = code;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof err->msg, fmt, ap);
	va_end(ap);
	return code;
}

static int code_of(int number)
{
	switch (number) {
	case ENOENT:
	case ENOTDIR:
		return LS_ENOENT;
	case EISDIR:
	case ELOOP:
	case ENAMETOOLONG:
		return LS_EINPUT;
	case ENOMEM:
		return LS_ENOMEM;
	default:
		return LS_EIO;
	}
}

int ls_err_errno(struct ls_err *err, const char *path, const char *verb)
{
	int saved = errno;
	return ls_err_set(err, code_of(saved), "%s: cannot %s: %s", path, verb, strerror(saved));
}

int ls_err_prefix(struct ls_err *err, const char *fmt, ...)
{
	if (!err)
		return LS_EINTERNAL;
	char head[512], old[sizeof err->msg];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(head, sizeof head, fmt, ap);
	va_end(ap);
	memcpy(old, err->msg, sizeof old);
	old[sizeof old - 1] = 0;
	snprintf(err->msg, sizeof err->msg, "%.500s: %.500s", head, old);
	return err->code;
}

void ls_err_advise(struct ls_err *err, const char *advice)
{
	size_t used = err ? strnlen(err->msg, sizeof err->msg) : 0;
	if (err)
		snprintf(err->msg + used, sizeof err->msg - used, "; %s", advice);
}
