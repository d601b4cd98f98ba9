# What a program writes elsewhere, a run that fails, settings that it undoes, and the
# warning before hours of training
said() {
	"$@" 2>notes
	echo "status $?"
	grep -c '^lockstep: warning: the command has no {out}' notes
}
# no {out} anywhere: warned before the runs
said lockstep verify -- true
# {out}, the variable in a word or in the script, and --collect are answers to that
echo 'echo 1 >$LOCKSTEP_OUT/x' >job.sh
said lockstep verify -- sh -c 'echo 1 >{out}/x'
said lockstep verify -- sh -c 'echo 1 >$LOCKSTEP_OUT/x'
said lockstep verify -- sh job.sh
said lockstep verify --collect made --collect a/b/log.txt -- sh -c 'mkdir made a a/b 2>/dev/null; date +%N >/dev/null; echo 1 >made/x; echo 2 >a/b/log.txt'
(cd artifacts/verify/005 && find run1 -type f ! -name run_manifest.json | sort)
[ ! -e made ] && [ ! -e a/b/log.txt ] && echo moved away
# it is compared, and the run that does not write it is named
said lockstep verify --collect made/ -- sh -c 'mkdir made; echo run >>n; wc -l <n >made/x'
said lockstep verify --collect made -- true
# a control and a spread over seeds have it, too
said lockstep verify --control seed --collect w.json -- sh -c 'echo {\"loss\": 0.$LOCKSTEP_SEED} >w.json'
lockstep verify --seeds 2 --metric loss --collect w.json -- sh -c 'echo {\"loss\": 0.$LOCKSTEP_SEED} >w.json' 2>/dev/null | head -3
# a run that fails: its last lines as a terminal shows them, and a status of its own
said lockstep verify -- sh -c 'for i in $(seq 100); do printf "step $i\r"; done; seq 20; printf "\nValueError: \033[31mx\n"; exit 7'
lockstep verify --json -- sh -c 'echo oh {out}; kill -9 $$' 2>/dev/null >v.json
echo "status $?"
python3 -c 'import json; v = json.load(open("v.json")); print(v["verdict"], v["sentence"], [r["last_lines"] for r in v["runs"]], sep="\n")'
said lockstep verify --show-output -- sh -c 'echo {out} seen; exit 3'
lockstep verify --seeds 2 --metric x -- sh -c 'echo gone; exit 7' 2>/dev/null | tail -2
echo "status ${PIPESTATUS[0]}"
