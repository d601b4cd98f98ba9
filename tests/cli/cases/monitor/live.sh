# The live view on a terminal of its own: what it shows, its keys, another size, and the plain
# tables of a terminal that ncurses does not know.
# labels: once
. "$ROOT/tests/fake/machine.sh"

machine h200
measures 0 util=93 used=71000 reserved=600 temp=61 slowdown=92 margin=31 draw=512500 sm=1980 smmax=1980 throttle=0x4 \
	remap=0,0,0,0 eccc=5 eccu=0 recovery=1 serial=1650421000123 pci=0 'proc=4711:65536,99:5'
process 4711 python3 '0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_0' LOCKSTEP_EXPERIMENT=runs_seed1
process 99 zsh 0::/
put /etc/passwd 'anna:x:1001:1001::/home/anna:/bin/sh'
put /proc/4711/stat '4711 (python3) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 10930000 1 1'
put /proc/4711/status 'Uid:	1001	1001	1001	1001' 'VmRSS:	1000 kB'
gpu 'NVIDIA H200' 9.0 143771 700 mig=0
measures 1 lost=15
put /proc/stat 'cpu  1 0 0 1 0 0 0 0' 'cpu0 1 0 0 1 0 0 0 0' 'btime 1757000000'

on() { # on TERM SIZE LOCALE STEP… : the monitor on that terminal
	python3 "$ROOT/tests/watch/terminal.py" "$1" "$2" "${@:4}" -- env -i PATH=/usr/bin:/bin HOME=/home/user TERM="$1" \
		LC_ALL="$3" TZ=UTC SOURCE_DATE_EPOCH=1757116800 LOCKSTEP_ROOT="$root" LS_FAKE_NVML="$script" LS_FAKE_STEP=0 \
		${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS"} "$(command -v lockstep)" monitor --interval 0.1
}

echo "== GPUs, verdicts, programs; help and back; sort; quit"
on xterm-256color 30x120 C.UTF-8 'see:lockstep monitor driver 580.65.06 2 GPUs critical 00:00:00 every 0.1 s' \
	'see:93 %' 'see:▄' 'see:the driver asks for a recovery of the GPU' 'see:PID GPU MEMORY USER TIME PROGRAM JOB CONTAINER EXPERIMENT' \
	'see:4711 0 64.0 GiB anna 2 h 05 python3 12 - runs_seed1' 'see:Sort by memory' 'key:s' 'see:GPU' 'key:?' 'see:look less often, more often' \
	'key:h' 'see:the GPU no longer answers' 'key:+?' 'see:look less often' 'key:?' 'see:every 0.2 s' 'key: ' 'see:PAUSED' 'key: ' 'key:v' 'key:q'
echo "== a small terminal, made larger; F10"
on xterm 12x40 C 'see:NVIDIA H200' 'size:40x140' 'see:python3' 'key:\x1b[21~'
echo "== SIGTERM"
on vt100 30x100 C 'see:NVIDIA H200' signal
echo "== a terminal that ncurses does not know"
on no-such-terminal 30x120 C 'see:GPU NAME UTIL MEMORY TEMP POWER CLOCK THROTTLE' 'see:critical GPU 1' signal
echo "== many GPUs on a small terminal: a row each, advice in several rows"
machine l40s4
for i in 4 5; do gpu 'NVIDIA L40S' 8.9 46068 350; done
measures 5 temp=71 draw=301000 recovery=1
on xterm 18x80 C 'see:GPU NAME USE MEMORY TEMP POWER' 'see:5 NVIDIA L40S' 'see:71 C 301 W' 'see:critical GPU 5' 'see:End the programs on it' \
	'see:reset the bus.' 'key:q'
echo "== no GPU"
machine nodriver
on xterm 30x100 C 'see:no GPU unknown' 'see:No GPU is watched: there is no NVIDIA driver' 'key:q'
