/* exact_conv for GPUs of compute capability 8.0 and newer: cmake/gpu.cmake compiles it
 * for compute_80. */
#include "exact/cuda/device/exact_conv.cu"
