# A variable that the facts have as well as the environment of the program is told once.
run() { lockstep run --level 0 -o "$@" -- true; }
CUDA_VISIBLE_DEVICES=0,1 run a
CUDA_VISIBLE_DEVICES=0 run b
env -u CUDA_VISIBLE_DEVICES lockstep run --level 0 -o c -- true
lockstep manifest diff a b | grep CUDA_VISIBLE_DEVICES
lockstep manifest diff a c | grep CUDA_VISIBLE_DEVICES
lockstep manifest diff c a | grep CUDA_VISIBLE_DEVICES
