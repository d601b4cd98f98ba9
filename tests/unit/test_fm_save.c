/* A model file or a checkpoint of which one byte was changed is refused, whichever byte it
 * is: lengths, names, metadata, padding, parameters, states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fm/model/save.h"

enum { FEATURES = 5, FIELDS = 2 };

/* A file of this kind, made in memory; its bytes belong to the caller. */
static uint8_t *make_file(enum ls_fm_kind kind, bool checkpoint, size_t *ret_len)
{
	struct ls_fm_opts o = ls_fm_defaults(kind, LS_BINARY, LS_ADAGRAD);
	struct ls_fm_position at = {.step = 3, .epochs = 1};
	struct ls_fm_model *m;
	struct ls_pool *pool;
	struct ls_err err = {0};
	char path[64], *bytes;
	o.factors = 3;
	snprintf(path, sizeof path, "/tmp/test_fm_save.%d", (int)getpid());
	assert_int_equal(ls_pool_new(1, &pool, &err), 0);
	assert_int_equal(ls_fm_model_new(&o, FEATURES, FIELDS, &m, &err), 0);
	ls_fm_model_init(m, pool);
	int rc = checkpoint ? ls_fm_save_checkpoint(path, m, &at, 1, &err)
			    : ls_fm_save_model(path, m, &at, 1, NULL, &err);
	assert_int_equal(rc, 0);
	assert_int_equal(ls_file_read(path, 1 << 20, &bytes, ret_len, &err), 0);
	unlink(path);
	ls_fm_model_free(m);
	ls_pool_free(pool);
	return (uint8_t *)bytes;
}

static int load(const uint8_t *bytes, size_t len, bool checkpoint)
{
	int fd = memfd_create("model", 0);
	char path[64];
	struct ls_fm_model *m = NULL;
	struct ls_fm_position at;
	struct ls_err err = {0};
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	int rc = checkpoint ? ls_fm_load_checkpoint(path, 1, &m, &at, &err)
			    : ls_fm_load_model(path, 1, &m, &err);
	if (rc == 0)
		ls_fm_model_free(m);
	close(fd);
	return rc;
}

static void flip_all(enum ls_fm_kind kind, bool checkpoint)
{
	/* one bit, a space for a line end in the padding, all bits */
	static const uint8_t flips[] = {0x01, 0x2a, 0x80, 0xff};
	size_t len;
	uint8_t *bytes = make_file(kind, checkpoint, &len);
	assert_int_equal(load(bytes, len, checkpoint), 0);
	for (size_t i = 0; i < len; i++)
		for (size_t f = 0; f < sizeof flips; f++) {
			bytes[i] ^= flips[f];
			if (load(bytes, len, checkpoint) != LS_EINPUT)
				fail_msg("byte %zu of %zu changed by %02x: not refused", i, len,
					 flips[f]);
			bytes[i] ^= flips[f];
		}
	assert_int_equal(load(bytes, len, checkpoint), 0);
	free(bytes);
}

static void test_models(void **state)
{
	(void)state;
	flip_all(LS_FM, false);
	flip_all(LS_FFM, false);
	flip_all(LS_FWFM, false);
}

static void test_checkpoint(void **state)
{
	(void)state;
	flip_all(LS_FM, true);
}

/* The file without its checksum, as an earlier program would have written it. */
static void test_no_checksum(void **state)
{
	(void)state;
	static const char field[] = ",\"checksum\":\"0123456789abcdef\"";
	size_t len, gone = strlen(field);
	char *bytes = (char *)make_file(LS_FM, false, &len), *at = NULL;
	for (size_t i = 8; i + gone < len && !at; i++)
		at = memcmp(bytes + i, field, 13) == 0 ? bytes + i : NULL;
	assert_non_null(at);
	memset(at, ' ', gone);
	assert_int_equal(load((uint8_t *)bytes, len, false), LS_EINPUT);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_models),
		cmocka_unit_test(test_checkpoint),
		cmocka_unit_test(test_no_checksum),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
