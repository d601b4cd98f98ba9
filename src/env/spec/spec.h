/* A spec: what a machine must be, as a JSON file with a documented schema
 * (docs/FORMATS.md), and the checks it stands for. The spec owns everything it points
 * to until ls_spec_free (NULL is fine); readers borrow. Read-only after loading; any
 * thread. */
#ifndef LS_ENV_SPEC_SPEC_H
#define LS_ENV_SPEC_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "base/keymap.h"
#include "env/spec/matcher.h"

enum ls_level { LS_LEVEL_REQUIRED, LS_LEVEL_RECOMMENDED, LS_LEVEL_INFORMATIONAL };

/* One expectation. key is the fact's key: torch, torch_cuda, cudnn, cuda, driver,
 * driver_cuda, nvcc, nccl, python, os, kernel, glibc, arch, cpu, container_toolkit,
 * package.NAME, env.NAME; from "hardware": ram, vram (smallest GPU), capability (lowest
 * GPU), gpu_count, driver; and "gpus", which has a set instead of a matcher. A key may
 * occur twice with different levels (minimum and recommended driver). */
struct ls_check {
	char *key;
	struct ls_matcher *matcher; /* NULL for "gpus" */
	struct ls_gpuset *gpus;     /* only for "gpus" */
	enum ls_level level;
	char *why; /* the author's reason, or NULL */
};

struct ls_spec_image {
	char *base;   /* "nvidia/cuda:12.1.1-cudnn8-runtime-ubuntu22.04", or NULL */
	char *digest; /* "sha256:…" of base, or NULL */
	char *tag;    /* what the built image is called, or NULL */
	char *watch;  /* the moving image whose drift the weekly job reports, or NULL */
	char **apt;   /* further Debian packages; NULL-terminated or NULL */
};

struct ls_spec {
	char *name, *description, *date, *source; /* NULL where not given; name is always set */
	char *path;                               /* file or shipped name it came from */
	bool captured;                            /* made by `spec capture` */
	char **absent; /* fact keys that must not be there; NULL-terminated or NULL */
	struct ls_check *checks;
	size_t n_checks, cap_checks;
	struct ls_keymap map; /* finds the first check of a key */
	struct ls_spec_image image;
	char *index;       /* of the torch wheels: "--index-url", or NULL */
	char *extra_index; /* "--extra-index-url", or NULL */
	char **lines;      /* further requirement lines; NULL-terminated or NULL */
	char **runner;     /* labels of the CI runner; NULL-terminated or NULL */
	char *schedule;    /* cron expression of the weekly job, or NULL */
	json_t *json;      /* the document itself */
};

/* A shipped name, or the path of a file ("-": standard input). Something with a slash or
 * ".json" is a path. */
int ls_spec_load(const char *name_or_path, struct ls_spec **ret, struct ls_err *err);
int ls_spec_parse(const char *text, size_t len, const char *path, struct ls_spec **ret,
		  struct ls_err *err);
void ls_spec_free(struct ls_spec *spec);

/* The first check of that key (of any level), or NULL. */
const struct ls_check *ls_spec_find(const struct ls_spec *spec, const char *key);
/* The exact value that the spec pins for key, or NULL when it pins none or only a
 * range. */
const char *ls_spec_exact(const struct ls_spec *spec, const char *key);
const char *ls_check_text(const struct ls_check *check); /* what is expected, for people */
const char *ls_level_name(enum ls_level level);          /* "required", … */
/* Does the spec say that this fact must be absent? */
bool ls_spec_is_absent(const struct ls_spec *spec, const char *key);
/* How much it matters that a key is absent: of a variable recommended, of what a capture
 * records for information only informational, of the rest required. */
enum ls_level ls_spec_absent_level(const char *key);
/* Is there anything that a machine must be? A gate with a spec that requires nothing
 * passes everywhere. */
bool ls_spec_requires(const struct ls_spec *spec);
/* numpy_X.y -> numpy-x-y, the way package names are compared; caller frees. */
char *ls_spec_package_name(const char *name);

/* Shipped specs: the i-th name ("kaggle-2025-09"), or NULL past the last; caller
 * frees. */
char *ls_spec_shipped(size_t i);

/* What follows prefix in the keys of the checks and of what must be absent;
 * NULL-terminated, the words borrowed; caller frees. spec may be NULL. */
const char **ls_spec_named(const struct ls_spec *spec, const char *prefix);

#endif
