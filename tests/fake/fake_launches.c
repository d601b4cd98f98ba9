/* fake_launches COUNT HOW [OTHER]: a program that launches kernels, as far as the tracing
 * library can tell. Loads what CUDA_INJECTION64_PATH names as CUDA does, then launches
 * COUNT kernels; with OTHER the one of that number is another kernel. HOW: exit, _exit,
 * kill, fork (a child comes and goes in the middle), reuse (all names at one address). */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/inject/cupti.h"

typedef void fire_fn(uint32_t call, const char *name, unsigned grid, unsigned block, void *stream);

static void *load(const char *path, const char *symbol)
{
	void *lib = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL,
	     *p = lib ? dlsym(lib, symbol) : NULL;
	if (!p) {
		fprintf(stderr, "fake_launches: %s: %s\n", path ? path : "nothing injected",
			lib ? symbol : "not loaded");
		exit(1);
	}
	return p;
}

int main(int argc, char **argv)
{
	const char *inject = getenv("CUDA_INJECTION64_PATH");
	if (argc < 3)
		return 2;
	if (inject) {
		int (*start)(void);
		void *p = load(inject, "InitializeInjection");
		memcpy(&start, &p, sizeof p);
		if (start() != 1)
			return 1;
	}
	fire_fn *fire;
	void *p = load(getenv("LOCKSTEP_CUPTI"), "fake_fire");
	memcpy(&fire, &p, sizeof p);
	unsigned long n = strtoul(argv[1], NULL, 10),
		      other = argc > 3 ? strtoul(argv[3], NULL, 10) : n;
	static const char *const names[] = {"sgemm_128x64", "reduce_kernel", "elementwise"};
	bool forks = strcmp(argv[2], "fork") == 0, reuse = strcmp(argv[2], "reuse") == 0;
	for (unsigned long i = 0; i < n; i++) {
		static char shared[64];
		const char *name = i == other ? "sgemm_64x64" : names[i % 3];
		if (forks && i == n / 2 && fork() == 0)
			exit(0);
		if (reuse)
			name = strncpy(shared, name, sizeof shared - 1);
		fire(i % 5 ? CALL_LAUNCH_KERNEL : CALL_LAUNCH_KERNEL_EX, name,
		     (unsigned)(i % 1000) + 1, 256,
		     (void *)(uintptr_t)(0x1000 * (i % 2) + (uintptr_t)getpid()));
		if (forks && i == n / 2)
			wait(NULL);
	}
	fire(CALL_GRAPH_LAUNCH, NULL, 0, 0, (void *)(uintptr_t)getpid());
	if (strcmp(argv[2], "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(argv[2], "_exit") == 0)
		_exit(0);
	return 0;
}
