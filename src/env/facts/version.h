/* Version texts as the stack writes them: 2.3.1+cu121, 535.161.08, 9.19.0.56, 3.13.0rc2,
 * and cuDNN's integers. Plain values, nothing owned; ls_version_cudnn writes into the
 * caller's buffer. No state; any thread. */
#ifndef LS_ENV_FACTS_VERSION_H
#define LS_ENV_FACTS_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LS_VERSION_PARTS = 8, LS_VERSION_LOCAL = 64, LS_VERSION_TEXT = 64 };

struct ls_version {
	unsigned n_parts;
	uint64_t part[LS_VERSION_PARTS]; /* release numbers; those not written are 0 */
	int pre;                         /* 0 none, else 'a', 'b' or 'r' (rc) */
	uint64_t pre_n;
	bool post, dev;
	uint64_t post_n, dev_n;
	char local[LS_VERSION_LOCAL]; /* what follows '+', or "" */
};

/* False when s is not a version as a whole; *ret is untouched then. A leading v is
 * allowed. */
bool ls_version_parse(const char *s, struct ls_version *ret);

/* A kernel's release: 5.15.0-1053-aws, 6.1.0-28-arm64, 4.18.0-513.5.1.el8.x86_64,
 * 6.9-rc3, 5.15.133+. The numbers up to the first dash, those behind it (n_parts 0
 * without any), and what is left of the text. False when it starts otherwise. */
bool ls_version_kernel(const char *s, struct ls_version *ret_release, struct ls_version *ret_build,
		       const char **ret_rest);

/* Order of the releases (pre-releases before, post-releases after); the local part does
 * not take part. 12.1 == 12.1.0. */
int ls_version_order(const struct ls_version *a, const struct ls_version *b);
/* The same for texts; false when one of them is not a version. */
bool ls_version_compare(const char *a, const char *b, int *ret);

/* cuDNN's version as text: 8905 -> 8.9.5 (major * 1000 up to 8), 91900 -> 9.19.0 (major *
 * 10000 from 9). A text with dots is copied. False when it is neither. */
bool ls_version_cudnn(const char *value, char ret[LS_VERSION_TEXT]);
/* The encoded integer that cudnnGetVersion() returns for a text of three or four parts; 0
 * when it is not one. */
uint64_t ls_version_cudnn_code(const char *text);

/* "16 GB", "143771 MiB" as MiB. GB is read as GiB: nameplates mean that. False without a
 * unit. */
bool ls_version_memory(const char *text, double *ret_mib);

#endif
