/* What a process in the sandbox can still do, and what it cannot. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/sandbox.h"

/* Runs a check in a child that has entered; 77 where the kernel has no filter. */
static int in_sandbox(int (*check)(void))
{
	int status = 0;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(ls_sandbox_enter((uint64_t)1 << 30, 1 << 20, 60) ? check() : 77);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int reads(void)
{
	char c;
	int fd = open("/proc/self/exe", O_RDONLY);
	return fd >= 0 && read(fd, &c, 1) == 1 ? 0 : 1;
}

static int creates(void)
{
	return open("/tmp/ls-sandbox-test", O_WRONLY | O_CREAT, 0600) < 0 && errno == EPERM ? 0 : 1;
}

static int opens_for_writing(void)
{
	return open("/dev/null", O_RDWR) < 0 && errno == EPERM ? 0 : 1;
}

static int runs(void)
{
	char *argv[] = {"/bin/true", NULL};
	execv(argv[0], argv);
	return errno == EPERM ? 0 : 1;
}

static int starts(void)
{
	return fork() < 0 && errno == EPERM ? 0 : 1;
}

static int connects(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EPERM ? 0 : 1;
}

static int removes(void)
{
	return unlink("/tmp/ls-sandbox-test") < 0 && errno == EPERM ? 0 : 1;
}

static void nothing_but_reading(void **state)
{
	(void)state;
	int (*const checks[])(void) = {reads,    creates, opens_for_writing, runs, starts,
				       connects, removes};
	for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
		int status = in_sandbox(checks[i]);
		if (status == 77)
			skip(); /* qemu-user, or a kernel without seccomp */
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_but_reading)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
