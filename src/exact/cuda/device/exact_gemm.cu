/* exact_gemm for every GPU of compute capability 7.5 and newer. */
#include "exact/cuda/device/exact_gemm.inl.h"
