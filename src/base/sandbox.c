#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHADOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHADOW 1
#endif
#endif
#ifndef SHADOW
#define SHADOW 0 /* sanitizers take terabytes of address space */
#endif

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH 0
#endif

/* Reading, writing and seeking in what is open, memory, and the end. */
static const unsigned allowed[] = {
	__NR_read,           __NR_pread64,       __NR_readv,        __NR_write,
	__NR_pwrite64,       __NR_lseek,         __NR_fstat,        __NR_newfstatat,
	__NR_close,          __NR_mmap,          __NR_munmap,       __NR_mremap,
	__NR_mprotect,       __NR_madvise,       __NR_brk,          __NR_futex,
	__NR_getpid,         __NR_gettid,        __NR_exit,         __NR_exit_group,
	__NR_rt_sigprocmask, __NR_rt_sigaction,  __NR_rt_sigreturn, __NR_sigaltstack,
	__NR_sched_yield,    __NR_clock_gettime, __NR_gettimeofday, __NR_flock,
	__NR_ftruncate,      __NR_readlinkat,    __NR_getcwd,       __NR_fcntl,
};

enum { N_ALLOWED = sizeof allowed / sizeof *allowed };

static bool filter(void)
{
	struct sock_filter code[N_ALLOWED + 11];
	unsigned n = 0;
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, arch));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	/* openat, where its flags say no more than reading */
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 4);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, args[2]));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K,
						 O_ACCMODE | O_CREAT | O_TRUNC, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	for (unsigned i = 0; i < N_ALLOWED; i++) /* each one jumps over the rest to the end */
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i],
							 (uint8_t)(N_ALLOWED - i), 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {(unsigned short)n, code};
	return ARCH && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Address space in use, bytes; 0 where /proc does not say. */
static uint64_t address_space(void)
{
	char line[100] = "";
	FILE *f = fopen("/proc/self/statm", "re");
	if (!f)
		return 0;
	if (!fgets(line, sizeof line, f))
		line[0] = 0;
	fclose(f);
	return strtoull(line, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void limit(int what, uint64_t value)
{
	struct rlimit r = {0};
	if (getrlimit((__rlimit_resource_t)what, &r))
		return;
	if (r.rlim_cur > value)
		r.rlim_cur = value;
	if (r.rlim_max > value)
		r.rlim_max = value;
	setrlimit((__rlimit_resource_t)what, &r);
}

bool ls_sandbox_enter(uint64_t memory, uint64_t file_size, unsigned seconds)
{
	uint64_t now = address_space();
	if (!SHADOW && now)
		limit(RLIMIT_AS, now + memory);
	limit(RLIMIT_FSIZE, file_size);
	limit(RLIMIT_CPU, seconds);
	limit(RLIMIT_CORE, 0);
	return filter();
}
