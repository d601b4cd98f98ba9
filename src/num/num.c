#include "num/num.h"

#include "lockstep.h"

int ls_numerics_version(void)
{
	return LS_NUMERICS_VERSION;
}

#if defined(__x86_64__)
#include <xmmintrin.h>

uint64_t ls_fp_enter(void)
{
	uint64_t saved = _mm_getcsr();
	_mm_setcsr(0x1f80); /* the state at process start */
	return saved;
}

void ls_fp_leave(uint64_t saved)
{
	_mm_setcsr((unsigned)saved);
}
#elif defined(__aarch64__)
uint64_t ls_fp_enter(void)
{
	uint64_t saved, plain = 0;
	__asm__ volatile("mrs %0, fpcr" : "=r"(saved));
	__asm__ volatile("msr fpcr, %0" : : "r"(plain));
	return saved;
}

void ls_fp_leave(uint64_t saved)
{
	__asm__ volatile("msr fpcr, %0" : : "r"(saved));
}
#else
#error "the floating-point environment of this machine is not known"
#endif
