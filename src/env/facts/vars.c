#include "env/facts/vars.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct ls_var ls_vars[] = {
	{"CUBLAS_WORKSPACE_CONFIG", ":4096:8 or :16:8",
	 "cuBLAS gives the same bits only with a fixed workspace"},
	{"PYTHONHASHSEED", "a number",
	 "the order in which Python walks a set of strings; read when Python starts"},
	{"NVIDIA_TF32_OVERRIDE", "0", "TF32 in cuBLAS and cuDNN (not in Triton kernels)"},
	{"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "not set or 0",
	 "1, as in some NVIDIA containers, forces TF32 back on"},
	{"CUBLAS_EMULATE_SINGLE_PRECISION", "not set or 0", "CUDA 13 may emulate FP32 products"},
	{"CUBLAS_EMULATE_DOUBLE_PRECISION", "not set or 0", "CUDA 13 may emulate FP64 products"},
	{"CUBLAS_EMULATION_STRATEGY", "not set", "when CUDA 13 emulates"},
	{"CUBLASLT_HEURISTICS_LUT_FILE", "not set",
	 "a file that changes which kernel cuBLASLt takes"},
	{"NVTE_ALLOW_NONDETERMINISTIC_ALGO", "0",
	 "Transformer Engine's choice of attention kernels"},
	{"MKL_CBWR", "a fixed path such as COMPATIBLE", "MKL's code path by processor"},
	{"OMP_NUM_THREADS", "a number", "how CPU reductions are split"},
	{"XLA_FLAGS", "--xla_gpu_deterministic_ops=true among its flags",
	 "XLA's choice of kernels"},
	{"TF_DETERMINISTIC_OPS", "1", "TensorFlow's choice of kernels"},
	{"CUDA_FORCE_PTX_JIT", "not set or 0", "1 compiles PTX anew with this driver's compiler"},
	{"NCCL_ALGO", NULL,
	 "unset, NCCL chooses by topology: other machines may sum in another order"},
	{"NCCL_PROTO", NULL, "unset, NCCL chooses by topology and size"},
	{"CUDA_LAUNCH_BLOCKING", NULL, "1 makes launches wait; results stay"},
	{"CUDA_CACHE_DISABLE", NULL, "1 compiles PTX at each start; results stay"},
	{"CUDA_MODULE_LOADING", NULL, "when kernels are loaded; results stay"},
	{"CUDA_VISIBLE_DEVICES", NULL, "which GPUs programs see, and in which order"},
	{"CUDA_DEVICE_ORDER", NULL, "how GPUs are numbered"},
	{"NVIDIA_VISIBLE_DEVICES", NULL, "which GPUs the container was given"},
	{"NVIDIA_DRIVER_CAPABILITIES", NULL, "which driver libraries the container was given"},
	{"LD_LIBRARY_PATH", NULL, "libraries found before those that torch brought"},
	{"LD_PRELOAD", NULL, "libraries put before all others"},
	{0},
};

/* Python takes 0 to 4294967295 and does not start with more. */
static bool is_hash_seed(const char *s)
{
	size_t n = strspn(s, "0123456789");
	errno = 0;
	return n && !s[n] && strtoull(s, NULL, 10) <= UINT32_MAX && !errno;
}

static bool is_off(const char *s)
{
	return !s || strcmp(s, "0") == 0 || !*s;
}

static bool is_on(const char *s)
{
	return s && (strcmp(s, "1") == 0 || strcasecmp(s, "true") == 0);
}

static bool mkl_is_fixed(const char *s)
{
	return s && *s && strncasecmp(s, "AUTO", 4) != 0 && strcasecmp(s, "OFF") != 0;
}

static bool xla_is_fixed(const char *s)
{
	static const char flag[] = "--xla_gpu_deterministic_ops";
	const char *p = s ? strstr(s, flag) : NULL;
	if (!p)
		return false;
	p += sizeof flag - 1;
	return *p == 0 || isspace((unsigned char)*p) || strncasecmp(p, "=true", 5) == 0 ||
	       strncmp(p, "=1", 2) == 0;
}

/* OMP_NUM_THREADS may be a list for nested levels: 4,2 */
static bool is_number_list(const char *s)
{
	return s && isdigit((unsigned char)*s) && !s[strspn(s, "0123456789,")] &&
	       strtoul(s, NULL, 10) > 0;
}

static bool good(const char *name, const char *v)
{
	if (strcmp(name, "CUBLAS_WORKSPACE_CONFIG") == 0)
		return v && (strcmp(v, ":4096:8") == 0 || strcmp(v, ":16:8") == 0);
	if (strcmp(name, "PYTHONHASHSEED") == 0)
		return v && is_hash_seed(v);
	if (strcmp(name, "OMP_NUM_THREADS") == 0)
		return is_number_list(v);
	if (strcmp(name, "NVIDIA_TF32_OVERRIDE") == 0 ||
	    strcmp(name, "NVTE_ALLOW_NONDETERMINISTIC_ALGO") == 0)
		return v && strcmp(v, "0") == 0;
	if (strcmp(name, "CUBLAS_EMULATION_STRATEGY") == 0 ||
	    strcmp(name, "CUBLASLT_HEURISTICS_LUT_FILE") == 0)
		return !v || !*v;
	if (strcmp(name, "MKL_CBWR") == 0)
		return mkl_is_fixed(v);
	if (strcmp(name, "XLA_FLAGS") == 0)
		return xla_is_fixed(v);
	if (strcmp(name, "TF_DETERMINISTIC_OPS") == 0)
		return is_on(v);
	return is_off(v);
}

enum ls_verdict ls_var_judge(const char *name, const char *value)
{
	for (const struct ls_var *v = ls_vars; v->name; v++)
		if (strcmp(v->name, name) == 0 && v->wanted)
			return good(name, value) ? LS_VAR_DETERMINISTIC : LS_VAR_FREE;
	return LS_VAR_RECORDED;
}

const char *ls_verdict_text(enum ls_verdict v)
{
	return v == LS_VAR_DETERMINISTIC ? "deterministic"
	       : v == LS_VAR_FREE        ? "not deterministic"
					 : "recorded";
}
