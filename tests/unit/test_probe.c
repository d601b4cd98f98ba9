/* The probe's product has its golden digest on the CPU, by every instruction set.
 * labels: once */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "watch/probe.h"

static void is_golden(enum ls_probe_size size, const char *isa)
{
	struct ls_probe p;
	struct ls_err err = {0};
	char digest[LS_SHA256_HEX];
	ls_probe_new(size, &p);
	assert_int_equal(ls_exact_product(&p.p, 2, isa, &err), 0);
	ls_probe_digest(&p, digest);
	assert_string_equal(digest, p.golden);
	((unsigned char *)p.p.out.at)[p.out_bytes - 1] ^= 1;
	ls_probe_digest(&p, digest);
	assert_string_not_equal(digest, p.golden);
	ls_probe_done(&p);
}

static void small(void **state)
{
	(void)state;
	for (const char *const *isa = ls_exact_isas(); *isa; isa++)
		is_golden(LS_PROBE_SMALL, *isa);
}

static void full(void **state)
{
	(void)state;
	is_golden(LS_PROBE_FULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small),
		cmocka_unit_test(full),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
