/* The kernels with a*b+c fused into one rounding where the compiler likes: compiled with
 * -ffp-contract=fast. */
#include "../../src/fm/cpu/kern/kern.c"
