/* The kernels with vectors as wide as AVX-512's, whatever this processor has: no emulator
 * has AVX-512. */
#define LS_WIDE 16
#include "../../src/fm/cpu/kern/kern.c"
