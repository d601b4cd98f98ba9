#include "env/spec/spec_image.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "env/spec/compat.h"

/* The version at the start of tag, as long as it is digits and dots. */
static void leading_version(const char *tag, char *ret, size_t size)
{
	size_t n = strspn(tag, "0123456789.");
	snprintf(ret, size, "%.*s", (int)n, tag);
}

static void distribution(const char *reference, struct ls_image_ref *r)
{
	static const struct {
		const char *mark, *python;
		bool ubuntu;
	} known[] = {{"ubuntu20.04", "3.8", true},   {"ubuntu22.04", "3.10", true},
		     {"ubuntu24.04", "3.12", true},  {"ubuntu:20.04", "3.8", true},
		     {"ubuntu:22.04", "3.10", true}, {"ubuntu:24.04", "3.12", true},
		     {"debian:12", "3.11", false},   {"bookworm", "3.11", false}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strstr(reference, known[i].mark)) {
			snprintf(r->python, sizeof r->python, "%s", known[i].python);
			r->ubuntu = known[i].ubuntu;
			return;
		}
}

static void cudnn(const char *tag, struct ls_image_ref *r)
{
	const char *p = strstr(tag, "-cudnn");
	if (!p)
		return;
	p += strlen("-cudnn");
	r->cudnn = isdigit((unsigned char)*p)
			   ? *p - '0'
			   : 9; /* from CUDA 12.4 on the tags leave the number out */
}

bool ls_image_ref_parse(const char *reference, struct ls_image_ref *ret)
{
	const char *slash = strrchr(reference, '/'), *name = slash ? slash + 1 : reference,
		   *colon = strchr(name, ':');
	*ret = (struct ls_image_ref){0};
	if (!colon)
		return false;
	const char *tag = colon + 1;
	distribution(reference, ret);
	if (strstr(reference, "nvidia/cuda:")) {
		leading_version(tag, ret->cuda, sizeof ret->cuda);
		if (!ls_compat_minor(ret->cuda, ret->cuda_minor, sizeof ret->cuda_minor))
			ret->cuda[0] = 0;
		cudnn(tag, ret);
	} else if (ls_str_starts(name, "python:")) {
		char full[24];
		leading_version(tag, full, sizeof full);
		ret->has_python = ls_compat_minor(full, ret->python, sizeof ret->python);
	}
	return true;
}
