# A variable that is set to a value that makes results vary is worth a line; so is one
# that hides the GPUs.
. "$ROOT/tests/fake/machine.sh"
machine kaggle
variables=(CUBLAS_WORKSPACE_CONFIG=:0:0 TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1 PYTHONHASHSEED=random OMP_NUM_THREADS=4
	XLA_FLAGS='--xla_dump_to=x --xla_gpu_deterministic_ops=true' CUDA_VISIBLE_DEVICES=-1 MKL_CBWR=AUTO)
doctor -v | grep -e '^env\.' -e '^differs env' -e gpus-hidden

# What a variable holds does not reach the terminal as commands to it.
variables=(PYTHONHASHSEED=$'1\n\033[31mred')
doctor -v | grep -e 'HASHSEED' | cat -v
