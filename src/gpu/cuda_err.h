/* A CUDA driver code as a sentence a user can act on, and as an LS_E code.
 * Nothing is owned. Any thread. */
#ifndef LS_GPU_CUDA_ERR_H
#define LS_GPU_CUDA_ERR_H

#include <stdbool.h>

#include "base/err.h"

struct ls_cuda_err_context {
	const char *doing; /* "allocating 12 bytes for parameters on cuda:0 (NVIDIA H200)" */
	const char *name;  /* CUDA_ERROR_…; NULL when the driver does not know it */
	const char *text;  /* the driver's own words; may be NULL */
	int driver_cuda;   /* 12040; 0 when not known */
	int cc;            /* 90; 0 when not known */
	bool opening;      /* nothing has run on it yet */
};

/* Fills err and returns its code. cu must not be 0. */
int ls_cuda_err(unsigned cu, const struct ls_cuda_err_context *context, struct ls_err *err);
/* The device, or its context, is beyond use after this code. */
bool ls_cuda_err_is_lost(unsigned cu);
/* The code in the module does not fit this driver or this GPU; another form of it may. */
bool ls_cuda_err_is_image(unsigned cu);

#endif
