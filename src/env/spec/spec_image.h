/* What the name of a container image says:
 * "nvidia/cuda:12.1.1-cudnn8-runtime-ubuntu22.04", "python:3.11-slim". Plain values,
 * nothing owned. No state; any thread. */
#ifndef LS_ENV_SPEC_SPEC_IMAGE_H
#define LS_ENV_SPEC_SPEC_IMAGE_H

#include <stdbool.h>

struct ls_image_ref {
	char cuda[24];       /* "12.1.1" of an nvidia/cuda image, or "" */
	char cuda_minor[24]; /* "12.1" */
	int cudnn;           /* 8 of "cudnn8", 9 of a plain "cudnn"; 0: the image has none */
	char python[24];     /* Python that comes with it: "3.11" of python:3.11-slim, "3.10" of
				ubuntu22.04; or "" */
	bool has_python;     /* it is already installed (python:…), not only packaged */
	bool ubuntu;
};

bool ls_image_ref_parse(const char *reference,
			struct ls_image_ref *ret); /* false: has no tag to read */

#endif
