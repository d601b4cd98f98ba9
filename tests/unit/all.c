/* Every unit test in one program, for the address sanitizer: `units NAME` runs one of
 * them, as its own program does elsewhere; `units` runs them all, one after the other,
 * and looks for leaks at its end.
 *
 * clang 14's leak check on aarch64 walks the whole address space, 3 s a process, which is
 * why there only the second looks for leaks; with LS_FULL=1 (./check --full) both do, as
 * they do on other processors. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT(name) {#name, main_##name},
static const struct {
	const char *name;
	int (*run)(void);
} units[] = {UNITS};

static bool no_leaks;

int __lsan_is_turned_off(void); /* asked by the sanitizer when the program ends */
int __lsan_is_turned_off(void)
{
	return no_leaks;
}

static int all(void)
{
	int failed = 0;
	for (size_t n = 0; n < sizeof units / sizeof *units; n++) {
		int rc = units[n].run();
		if (rc != 0 && rc != 77) { /* 77: cannot run here, which other builds count */
			fprintf(stderr, "%s: failed among the others\n", units[n].name);
			failed = 1;
		}
	}
	return failed;
}

int main(int argc, char **argv)
{
	if (argc == 1)
		return all();
#ifdef __aarch64__
	const char *full = getenv("LS_FULL");
	no_leaks = !full || strcmp(full, "1") != 0;
#endif
	for (size_t n = 0; n < sizeof units / sizeof *units; n++) {
		if (strcmp(units[n].name, argv[1]) == 0)
			return units[n].run();
	}
	fprintf(stderr, "units: there is no %s\n", argv[1]);
	return 2;
}
