# every launch is logged in order, whatever ends the program; two runs name the first
# kernel that differs; nothing missing or
# taken disturbs the program. With a stand-in libcupti.
export LOCKSTEP_CUPTI=$BUILD/fake/libfake_cupti.so
prog=$BUILD/fake/fake_launches
log() { python3 -c 'import json, sys; [print({k: v for k, v in t.items() if k != "file"}) for t in json.load(open(sys.argv[1] + "/run_manifest.json"))["trace"]["kernels"]]' "$1"; }
lockstep run --trace kernels -o a -- "$prog" 20000 exit && log a
lockstep run --trace kernels -o b -- "$prog" 20000 _exit && log b
lockstep run --trace kernels -o c -- "$prog" 20000 kill; echo "status $?" && log c
lockstep run --trace kernels -o d -- "$prog" 20000 exit 12345 && log d
lockstep manifest diff a b | grep -c kernel
lockstep manifest diff a d | grep '^kernel' | tr -s " "
# a program that another tool traces, and one without CUPTI, run as they would
FAKE_CUPTI_TAKEN=1 lockstep run --trace kernels -o e -- "$prog" 10 exit && log e
LOCKSTEP_CUPTI=/nowhere/libcupti.so lockstep run --trace kernels -o f -- sh -c "LOCKSTEP_CUPTI=/nowhere $prog 10 exit; :" 2>/dev/null && log f
# a full disk, or a folder that is gone, ends the log and not the program
lockstep run --trace kernels -o g -- sh -c "rm -r {out}/run_trace; $prog 10 exit" && log g
echo "status $?"
# a forked child's end does not touch its parent's log; one address for all names does not
# confuse them
lockstep run --trace kernels -o i -- "$prog" 20000 fork && log i
lockstep run --trace kernels -o j -- "$prog" 20000 reuse && log j
# a million launches keep their time
lockstep run --trace kernels -o h -- "$prog" 1000000 exit && log h
