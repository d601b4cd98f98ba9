#include "gpu/cuda_err.h"

#include <stddef.h>
#include <stdio.h>

#include "gpu/cuda_api.h"

struct rule {
	unsigned cu;
	int code;
	bool lost;
	const char *advice; /* the meaning and what to do: a clause or two, no full stop */
};

#define LOST_MEMORY                                                                                \
	"look for a line with Xid in the kernel log (dmesg) of that time, then start again from "  \
	"the last checkpoint; "                                                                    \
	"if it comes back, the GPU needs a reset (nvidia-smi --gpu-reset) or repair"
#define LOST_KERNEL                                                                                \
	"a kernel went wrong and took the context with it; start again from the last checkpoint; " \
	"if it happens again "                                                                     \
	"at "                                                                                      \
	"the same step, it is a defect: run under compute-sanitizer and report what it says, "     \
	"otherwise suspect the "                                                                   \
	"GPU"
#define NEWER_DRIVER                                                                               \
	"update the NVIDIA driver, or install an NVRTC that fits it (it comes with PyTorch), or "  \
	"use --device cpu"

static const struct rule rules[] = {
	{LS_CU_OUT_OF_MEMORY, LS_ENOMEM, false,
	 "the GPU has too little free memory; see nvidia-smi for who holds it, use a smaller "
	 "--batch or fewer "
	 "--factors, "
	 "or --device cpu"},
	{LS_CU_LAUNCH_OUT_OF_RESOURCES, LS_EINTERNAL, false,
	 "the kernel was launched with more registers or shared memory than the GPU has; this is a "
	 "defect, please "
	 "report it"},
	{LS_CU_COOPERATIVE_LAUNCH_TOO_LARGE, LS_EINTERNAL, false,
	 "the kernel was launched with more blocks than the GPU holds at once; this is a defect, "
	 "please report it"},

	{LS_CU_DEVICE_UNAVAILABLE, LS_EIO, true,
	 "the GPU is taken or gone: another process may hold it exclusively (compute mode), or it "
	 "fell off the "
	 "bus; " LOST_MEMORY},
	{LS_CU_ECC_UNCORRECTABLE, LS_EIO, true,
	 "the GPU's memory had an error that ECC could not mend (Xid 48, 63, 94, "
	 "95); " LOST_MEMORY},
	{LS_CU_NVLINK_UNCORRECTABLE, LS_EIO, true,
	 "an NVLink had an error that could not be mended (Xid 74); " LOST_MEMORY},
	{LS_CU_CONTAINED, LS_EIO, true,
	 "the GPU had a memory error, contained to this process (Xid 94); " LOST_MEMORY},
	{LS_CU_LAUNCH_TIMEOUT, LS_EIO, true,
	 "the kernel ran longer than the driver allows on a GPU that also drives a display; use a "
	 "GPU without one, or "
	 "a "
	 "smaller --batch; start again from the last checkpoint"},
	{LS_CU_ILLEGAL_ADDRESS, LS_EIO, true, LOST_KERNEL},
	{LS_CU_ASSERT, LS_EIO, true, LOST_KERNEL},
	{LS_CU_HARDWARE_STACK_ERROR, LS_EIO, true, LOST_KERNEL},
	{LS_CU_ILLEGAL_INSTRUCTION, LS_EIO, true, LOST_KERNEL},
	{LS_CU_MISALIGNED_ADDRESS, LS_EIO, true, LOST_KERNEL},
	{LS_CU_INVALID_ADDRESS_SPACE, LS_EIO, true, LOST_KERNEL},
	{LS_CU_INVALID_PC, LS_EIO, true, LOST_KERNEL},
	{LS_CU_LAUNCH_FAILED, LS_EIO, true, LOST_KERNEL},
	{LS_CU_CONTEXT_IS_DESTROYED, LS_EIO, true, LOST_MEMORY},
	{LS_CU_DEINITIALIZED, LS_EIO, true,
	 "the driver is shutting down; start again from the last checkpoint"},
	{LS_CU_MPS_CLIENT_TERMINATED, LS_EIO, true,
	 "the MPS server ended this client; start again from the last checkpoint"},
	{LS_CU_UNKNOWN, LS_EIO, true, "the driver does not say more; " LOST_MEMORY},

	{LS_CU_UNSUPPORTED_PTX_VERSION, LS_EUNKNOWN, false,
	 "the driver is older than the code in this program; " NEWER_DRIVER},
	{LS_CU_INSUFFICIENT_DRIVER, LS_EUNKNOWN, false,
	 "the driver is too old for its own library or for CUDA 11; update the NVIDIA driver, or "
	 "use --device cpu"},
	{LS_CU_CALL_REQUIRES_NEWER_DRIVER, LS_EUNKNOWN, false,
	 "the driver is too old; " NEWER_DRIVER},
	{LS_CU_SYSTEM_DRIVER_MISMATCH, LS_EUNKNOWN, false,
	 "the driver's library and its kernel module have different versions, as after an update "
	 "without a reboot; "
	 "reboot, "
	 "or reload the nvidia module"},
	{LS_CU_COMPAT_NOT_SUPPORTED_ON_DEVICE, LS_EUNKNOWN, false,
	 "a forward-compatibility libcuda is first on the library path and does not support this "
	 "GPU; remove it from "
	 "LD_LIBRARY_PATH"},
	{LS_CU_NO_BINARY_FOR_GPU, LS_EUNKNOWN, false,
	 "there is no code for this GPU's architecture in this program; GPUs from compute "
	 "capability 7.5 on are "
	 "served, "
	 "with NVRTC also some older ones; use --device cpu"},
	{LS_CU_INVALID_PTX, LS_EUNKNOWN, false,
	 "the driver's compiler cannot make code for this GPU's architecture from the PTX in this "
	 "program; " NEWER_DRIVER},
	{LS_CU_INVALID_IMAGE, LS_EUNKNOWN, false,
	 "the driver does not know this form of code; " NEWER_DRIVER},
	{LS_CU_JIT_COMPILER_NOT_FOUND, LS_EUNKNOWN, false,
	 "the driver's PTX compiler (libnvidia-ptxjitcompiler.so.1) is missing; install the whole "
	 "driver package, in a "
	 "container the driver capability \"compute\""},
	{LS_CU_JIT_COMPILATION_DISABLED, LS_EUNKNOWN, false,
	 "the driver's PTX compiler is turned off; unset CUDA_DISABLE_PTX_JIT"},

	{LS_CU_NO_DEVICE, LS_EUNKNOWN, false,
	 "no NVIDIA GPU is visible here; see nvidia-smi, CUDA_VISIBLE_DEVICES and, in a container, "
	 "--gpus"},
	{LS_CU_STUB_LIBRARY, LS_EUNKNOWN, false,
	 "this libcuda is the toolkit's stub for linking, not a driver; take its folder from "
	 "LD_LIBRARY_PATH"},
	{LS_CU_DEVICE_NOT_LICENSED, LS_EUNKNOWN, false,
	 "the virtual GPU has no licence for compute; see nvidia-smi -q"},
	{LS_CU_SYSTEM_NOT_READY, LS_EUNKNOWN, false,
	 "the GPUs are not ready: on a machine with NVSwitch the fabric manager must run "
	 "(nvidia-fabricmanager)"},
	{LS_CU_MPS_CONNECTION_FAILED, LS_EUNKNOWN, false,
	 "no connection to the MPS server; start it or unset CUDA_MPS_PIPE_DIRECTORY"},
	{LS_CU_OPERATING_SYSTEM, LS_EUNKNOWN, false,
	 "the operating system refused the driver; are /dev/nvidia* there and readable?"},
	{LS_CU_NOT_PERMITTED, LS_EUNKNOWN, false,
	 "the driver refused; is another process using the GPU exclusively?"},
	{LS_CU_NOT_SUPPORTED, LS_EUNKNOWN, false,
	 "this GPU or driver does not support it; " NEWER_DRIVER},
};

/* These codes mean something else before anything has run. */
static const struct rule opening_rules[] = {
	{LS_CU_OUT_OF_MEMORY, LS_ENOMEM, false,
	 "the GPU has too little free memory even to be opened; see nvidia-smi for who holds it, "
	 "name another GPU "
	 "(--device cuda:N) or use --device cpu"},
	{LS_CU_DEVICE_UNAVAILABLE, LS_EUNKNOWN, true,
	 "another process holds the GPU exclusively (compute mode, see nvidia-smi -q -d COMPUTE), "
	 "or it fell off the "
	 "bus (a line with Xid 79 in dmesg); name another GPU (--device cuda:N) or use --device "
	 "cpu"},
	{LS_CU_UNKNOWN, LS_EUNKNOWN, true,
	 "the driver's kernel modules do not answer; is nvidia-uvm loaded (nvidia-modprobe -u -c "
	 "0)? Look for NVRM and "
	 "Xid in dmesg; after a suspend, reload nvidia-uvm; or use --device cpu"},
};

static const struct rule *find_opening(unsigned cu)
{
	for (size_t i = 0; i < sizeof opening_rules / sizeof *opening_rules; i++)
		if (opening_rules[i].cu == cu)
			return &opening_rules[i];
	return NULL;
}

static const struct rule *find(unsigned cu)
{
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (rules[i].cu == cu)
			return &rules[i];
	return NULL;
}

int ls_cuda_err(unsigned cu, const struct ls_cuda_err_context *c, struct ls_err *err)
{
	static const struct rule unlisted = {0, LS_EINTERNAL, false,
					     "this is a defect in lockstep, please report it"};
	const struct rule *r = c->opening ? find_opening(cu) : NULL;
	if (!r)
		r = find(cu);
	if (!r)
		r = &unlisted;
	char machine[96] = "";
	if (r->code == LS_EUNKNOWN && c->driver_cuda && c->cc)
		snprintf(machine, sizeof machine,
			 " on compute capability %d.%d with a driver for CUDA %d.%d", c->cc / 10,
			 c->cc % 10, c->driver_cuda / 1000, c->driver_cuda % 1000 / 10);
	return ls_err_set(err, r->code, "%s%s: %s (%s, error %u): %s", c->doing, machine,
			  c->text ? c->text : "failed",
			  c->name ? c->name : "unknown to this driver", cu, r->advice);
}

bool ls_cuda_err_is_lost(unsigned cu)
{
	const struct rule *r = find(cu);
	return r && r->lost;
}

bool ls_cuda_err_is_image(unsigned cu)
{
	switch (cu) {
	case LS_CU_UNSUPPORTED_PTX_VERSION:
	case LS_CU_NO_BINARY_FOR_GPU:
	case LS_CU_INVALID_PTX:
	case LS_CU_INVALID_IMAGE:
	case LS_CU_JIT_COMPILER_NOT_FOUND:
	case LS_CU_JIT_COMPILATION_DISABLED:
		return true;
	default:
		return false;
	}
}
