#include "api/tables.h"

const struct ls_opt ls_doctor_opts[] = {
	{"cuda", 0, NULL,
	 "look at the CUDA stack only, and demand one: driver, GPU, torch built for CUDA, cuDNN"},
	{"spec", 0, "NAME|FILE", "compare with a shipped spec (lockstep spec list) or a spec file"},
	{"fail-on-mismatch", 0, NULL, "exit 1 on a mismatch, 3 when a required fact is unknown"},
	{"emit-json", 0, "FILE", "also write the whole report to FILE"},
	{"python", 0, "PATH", "the interpreter to look at (default: the first on PATH)"},
	{"deep", 0, NULL,
	 "also start that Python, import torch and compare with what the files say"},
	{"tables", 0, "DIR",
	 "take torch.json and the other compatibility tables from DIR, where it has them"},
	{"symptom", 0, "out-of-memory|slow-training|no-gpu|version-mismatch",
	 "also say what to try when a training fails or is slow on this machine"},
	{"verbose", 'v', NULL, "show every check and fact, with its source and all advice"},
	{0},
};

const struct ls_opt ls_spec_check_opts[] = {
	{"today", 0, "DATE", "judge ends of life by this day (YYYY-MM-DD) instead of today"},
	{0},
};

const struct ls_opt ls_compare_opts[] = {
	{"ignore", 0, "GLOB",
	 "leave out tensors, values, columns and files of these names; may be repeated"},
	LS_TOLERANCE_OPT,
	{"html", 0, "FILE", "also write a page with tables and histograms"},
	{"markdown", 0, "FILE", "also write the result for a pull request"},
	{"all", 0, NULL, "print every difference, not only the first 40 of a file"},
	{"digest", 0, NULL, "also print the digest of the tensors of each side"},
	{"threads", 0, "N", "compare with N threads (default: one for each CPU it may use)"},
	{0},
};

const struct ls_opt ls_plan_opts[] = {
	{"from", 0, "GPU:N", "what the baseline ran on, as in L40S:4"},
	{"to", 0, "GPU:N", "what it shall run on, as in H200:2"},
	{"batch", 0, "N", "samples that one GPU of the baseline takes at once"},
	{"accum", 0, "N", "gradient accumulation of the baseline (default: 1)"},
	{"samples", 0, "N", "samples of the training set, for the schedule in steps"},
	{"drop-last", 0, NULL, "the DataLoader leaves out a last batch that is not full"},
	{"epochs", 0, "N", "epochs of the baseline"},
	{"steps", 0, "N", "optimizer steps of the baseline, instead of --epochs"},
	{"warmup-epochs", 0, "X", "epochs of warm-up of the baseline; may be a fraction"},
	{"warmup-steps", 0, "N", "optimizer steps of warm-up, instead of --warmup-epochs"},
	{"precision", 0, "fp32|tf32|bf16|fp16|fp8|fp4", "of the baseline"},
	{"tf32", 0, "on|off", "the baseline's TF32 setting"},
	{"batch-norm", 0, "none|per-gpu|sync", "whether the model has BatchNorm, and over what"},
	{"workers", 0, "N", "DataLoader workers of each rank"},
	{"optimizer", 0, "sgd|momentum|adam|adamw|lion|adafactor",
	 "for memory, and for how the learning rate follows the batch"},
	{"lr", 0, "X", "learning rate of the baseline"},
	{"params", 0, "N", "parameters of the model; 7B and 1.3M are understood"},
	{"activations", 0, "SIZE", "memory of the activations of one sample, as in 150M"},
	{"manifest", 0, "FILE|DIR",
	 "run_manifest.json of the baseline, for its peak of GPU memory"},
	{"gpus-per-node", 0, "N", "GPUs of one node of the target (default: all in one)"},
	{"partition", 0, "NAME", "Slurm's partition, for the sbatch line"},
	{"yaml", 0, NULL, "print the plan as YAML, to paste into a configuration"},
	{"env", 0, NULL, "print the plan as variables for a shell"},
	{"all", 0, NULL, "print every way to divide the batch, not only the first 8"},
	{"list-gpus", 0, NULL, "print the GPUs that are known, and nothing else"},
	{0},
};

int ls_args_tolerance(const struct ls_args *args, struct ls_tolerance_rules *ret,
		      struct ls_err *err)
{
	const char *text;
	int rc = 0;
	for (size_t i = 0; rc == 0 && (text = ls_args_nth(args, "tolerance", i)); i++)
		rc = ls_tolerance_rules_add(ret, text, err);
	return rc;
}
