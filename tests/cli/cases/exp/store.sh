# A store is found upwards, keeps what an experiment was made from, and refuses what it
# cannot be: twice, from the future, damaged. Nothing that was refused leaves a trace.
set -u
times() { sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/TIME/g; s/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/UUID/g; s/[0-9a-f]{40}/COMMIT/g'; }
show() { lockstep exp show "$@" | grep -v ^environment | times; }
fails() { "$@" 2>&1; echo "exit $?"; }
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b

echo '--- before init'
fails lockstep exp list
lockstep exp init
fails lockstep exp init
git init -q .
echo one >train.py
git add train.py
git commit -q -m first
echo two >>train.py
mkdir -p deep/er
cd deep/er || exit 9

echo '--- templates'
lockstep exp template ijepa_mlp --partition l40s_public --num-gpus 4 --batch-size 48 --set lr=0.1 --samples 103000 \
	--epochs 30 --warmup-epochs 5 -- train.py --seed '{seed}' --batch '{batch}' --json '{"a": 1}' '{out}'
fails lockstep exp template ijepa_mlp -- true
fails lockstep exp new b --template ijepa
fails lockstep exp new 'b/c' --template ijepa_mlp --seed 1
fails lockstep exp new b --template ijepa_mlp

echo '--- experiments'
lockstep exp new --exp-id b15_baseline --template ijepa_mlp --description 'Baseline on L40S' --seed 42 --tag paper
lockstep exp new b15_h200 --like b15_baseline --partition h200_tandon --num-gpus 2
lockstep exp new b15 --like b15_baseline --seeds 42,123,456 --after b15_baseline
fails lockstep exp new b15 --like b15_baseline --seeds 7,42
fails lockstep exp new c --like b15_baseline --num-gpus 5
fails lockstep exp new c --like b15_baseline --after nobody
fails lockstep exp new c --like b15_baselin
lockstep exp list --columns name,num_gpus,batch_size,accumulation,global_batch,warmup_steps,total_steps,seed,lr
lockstep exp list --tag paper --columns name
lockstep exp list --group b15 --sort -seed --columns name
lockstep exp note b15_h200 the same bytes
lockstep exp tag b15_h200 fast cheap
lockstep exp tag b15_h200 --remove cheap --json
show b15_h200
show b15_seed123 | grep -A9 ^after
lockstep exp show b15_h200 --diff | grep '^[+-]'
lockstep exp show --json b15_h200 | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["git"]["dirty"], d["command"][0], d["settings"])'

echo '--- rm'
fails lockstep exp rm b15_h200 </dev/null
fails lockstep exp rm -y b15_baseline
lockstep exp rm -y --json b15_h200
fails lockstep exp show b15_h200
lockstep exp check

echo '--- backup, and what cannot be opened'
cd "$SCRATCH/work" || exit 9
lockstep exp backup copy.db
fails lockstep exp backup copy.db
db=.lockstep/exp.db
sqlite() { python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.isolation_level = None; print(*c.execute(sys.argv[2]).fetchall())' "$db" "$1"; }
fails sqlite 'delete from event' | grep -o 'append-only'
fails sqlite 'update event set kind = 1' | grep -o 'append-only'
sqlite "update experiment set state = 'done', attempt = 1 where name = 'b15_baseline'" >/dev/null
fails lockstep exp check
sqlite 'pragma user_version = 99' >/dev/null
fails lockstep exp list
cp copy.db $db
python3 -c 'import os, sys; f = open(sys.argv[1], "r+b"); f.seek(4096 * 3); f.write(os.urandom(4096 * 4))' $db
fails lockstep exp check | sed 's/:.*//' | sort -u
echo 'not a database' >$db
fails lockstep exp list
python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("create table t(a)")' other.db
mv other.db $db
rm -f $db-wal $db-shm
fails lockstep exp list
rm -f $db $db-wal $db-shm
fails lockstep exp list
cp copy.db $db
lockstep exp list --columns name

echo '--- elsewhere'
mkdir a b
lockstep exp init a --database none/x.db
ls -A a
lockstep exp init a --database b/x.db
(cd a && lockstep exp new one -- true && ls -A .lockstep)
test -e b/x.db && echo there
