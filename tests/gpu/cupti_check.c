/* Compiled only: what src/run/inject/cupti.h declares has the numbers and the layout of
 * NVIDIA's headers. */
#include <stddef.h>

#define __CUDA_API_VERSION_INTERNAL    /* cuda.h then has the old types that generated_cuda_meta.h \
					  mentions */

#include <cuda.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>

#include "run/inject/cupti.h"

#define SAME(a, b) _Static_assert((int)(a) == (int)(b), #a)

SAME(CUPTI_OK, CUPTI_SUCCESS);
SAME(CUPTI_DRIVER_API, CUPTI_CB_DOMAIN_DRIVER_API);
SAME(CUPTI_ENTER, CUPTI_API_ENTER);
SAME(CALL_LAUNCH_KERNEL, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
SAME(CALL_LAUNCH_KERNEL_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz);
SAME(CALL_LAUNCH_COOPERATIVE, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel);
SAME(CALL_LAUNCH_COOPERATIVE_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz);
SAME(CALL_GRAPH_LAUNCH, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch);
SAME(CALL_GRAPH_LAUNCH_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz);
SAME(CALL_LAUNCH_KERNEL_EX, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
SAME(CALL_LAUNCH_KERNEL_EX_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz);

SAME(offsetof(struct cupti_call, site), offsetof(CUpti_CallbackData, callbackSite));
SAME(offsetof(struct cupti_call, params), offsetof(CUpti_CallbackData, functionParams));
SAME(offsetof(struct cupti_call, symbol), offsetof(CUpti_CallbackData, symbolName));
SAME(offsetof(struct cupti_call, correlation_data), offsetof(CUpti_CallbackData, correlationData));
SAME(sizeof(struct cupti_call), sizeof(CUpti_CallbackData));

SAME(offsetof(struct cupti_launch, grid), offsetof(cuLaunchKernel_params, gridDimX));
SAME(offsetof(struct cupti_launch, block), offsetof(cuLaunchKernel_params, blockDimX));
SAME(offsetof(struct cupti_launch, shared), offsetof(cuLaunchKernel_params, sharedMemBytes));
SAME(offsetof(struct cupti_launch, stream), offsetof(cuLaunchKernel_params, hStream));
SAME(offsetof(struct cupti_launch, stream), offsetof(cuLaunchCooperativeKernel_params, hStream));
SAME(offsetof(struct cupti_launch_ex, config), offsetof(cuLaunchKernelEx_params, config));
SAME(offsetof(struct cupti_launch_config, grid), offsetof(CUlaunchConfig, gridDimX));
SAME(offsetof(struct cupti_launch_config, block), offsetof(CUlaunchConfig, blockDimX));
SAME(offsetof(struct cupti_launch_config, stream), offsetof(CUlaunchConfig, hStream));
SAME(offsetof(struct cupti_graph_launch, stream), offsetof(cuGraphLaunch_params, hStream));
