# the spread of a metric over seeds, two configurations, and what cannot be said
cat >prog.py <<'EOF'
import json, os, sys
seed = int(os.environ["LOCKSTEP_SEED"]) - 1337
f1 = 0.82 + 0.001 * (seed * 7 % 5) + float(os.environ.get("SHIFT", "0"))
with open(sys.argv[1] + "/log.jsonl", "w") as log:
    for step in (1, 2):
        log.write(json.dumps({"step": step, "val": {"f1": f1 - 0.1 * (2 - step)}, "train/f1": 1}) + "\n")
print(f"final f1: {f1:.4f}")
EOF
quiet() {
	"$@" 2>progress
	echo "status $?"
	grep lockstep: progress | sed "s|$PWD|.|g"
}
seeds() { quiet lockstep verify --seeds "$@" | sed "s|$PWD|.|g"; }
seeds 4 --metric val/f1 -- python3 prog.py {out}
# a difference that is larger than the seeds, one that is not, and one that is within the
# margin
seeds 3 --metric val/f1 --vary SHIFT=0,0.1 -- python3 prog.py {out}
seeds 3 --metric 'final f1' --against 'env "SHIFT=0.001" python3 prog.py {out}' -- python3 prog.py {out}
seeds 3 --metric log.jsonl:val/f1 --margin 0.02 --vary SHIFT=0,0.001 -- python3 prog.py {out}
# the same bytes need no test
seeds 2 --metric val/f1 --vary UNUSED=1,2 -- python3 prog.py {out}
# {seed} for programs that take it as an option; a seed that is not followed; a run that
# diverges; one that fails
seeds 2 --metric loss -- sh -c 'echo loss=0.{seed}'
seeds 3 --metric loss -- sh -c 'echo loss=0.5'
seeds 2 --metric loss -- sh -c 'echo loss=nan'
seeds 2 --metric loss -- sh -c 'exit 7'
# JSON
lockstep verify --seeds 2 --metric val/f1 --vary SHIFT=0,0.1 --json -- python3 prog.py {out} 2>/dev/null |
	python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["answer"], d["comparison"]["verdict"], [len(c["runs"]) for c in d["configurations"]])'
# a metric that is not there, or that several entries could be
seeds 2 --metric f1 -- python3 prog.py {out}
seeds 2 --metric nix -- python3 prog.py {out}
seeds 2 --metric a -- sh -c 'echo {\"a\":1} >{out}/x.json; echo {\"a\":2} >{out}/y.json'
# bad usage is refused before anything runs
seeds 2 -- touch started
seeds 1 --metric x -- touch started
seeds 2 --metric x --runs 3 -- touch started
seeds 2 --metric x --vary A=1,2,3 -- touch started
seeds 2 --metric x --margin 0 -- touch started
seeds 2 --metric x --against 'a "b' -- touch started
seeds 2 --metric x --against 'echo $A' -- touch started
seeds 2 --metric x --against ' ' -- touch started
quiet lockstep verify --metric x -- touch started
[ ! -e started ] && echo "nothing was started"
