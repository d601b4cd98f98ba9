# Metrics of every kind of file into the store, twice with the same rows; and what is
# refused. tests/cli/cases/exp/events.py writes TensorBoard's files byte by byte.
set -u
fails() { "$@" 2>&1; echo "exit $?"; }
make() { lockstep exp new "$@" >/dev/null && lockstep exp submit "$1"; }
work() { lockstep worker --once --gpus none --cpus 4 2>/dev/null; }
points() { lockstep exp export --json --curves --where "name=$1" | python3 -c 'import json, sys
for r in json.load(sys.stdin)["rows"]: print(r["metric"], r["step"], r["value"], r["source"], sep=" ")'; }
events() { python3 "$ROOT/tests/cli/cases/exp/events.py" "$@"; }
export ROOT
lockstep exp init >/dev/null

echo '--- JSON lines, as fm train --log writes them'
printf '1 1:1 2:1\n0 1:1 3:1\n' >data.txt
make fm --seed 5 --num-gpus 0 --batch-size 2 -- lockstep fm train data.txt -o '{out}/model.safetensors' --epochs 2 --seed '{seed}' --log '{out}/log.jsonl' --valid data.txt
work
lockstep exp harvest fm
lockstep exp harvest fm
points fm | cut -d' ' -f1,2,4 | grep -v seconds
lockstep exp list --columns name,loss:max,loss,valid/auc | sed 's/  */ /g'

echo '--- CSV, as Lightning writes it: empty cells, several rows a step'
cat >csv.sh <<'S'
mkdir -p $LOCKSTEP_OUT/lightning_logs/version_0
printf 'epoch,step,train_loss,val_loss\n0,9,0.5,\n0,9,,0.25\n1,19,nan,\n1,19,,-inf\n' >$LOCKSTEP_OUT/lightning_logs/version_0/metrics.csv
S
make csv -- sh csv.sh
work
lockstep exp harvest csv
points csv

echo '--- TensorBoard, and Keras, which has a folder for train and one for validation'
make tb -- sh -c 'python3 $ROOT/tests/cli/cases/exp/events.py $LOCKSTEP_OUT/logs/train loss=1:0.5,2:0.25 acc=2:0.75; python3 $ROOT/tests/cli/cases/exp/events.py --tensor $LOCKSTEP_OUT/logs/validation loss=1:0.625,2:0.5'
work
lockstep exp harvest tb
points tb

echo '--- what is printed'
make out --harvest 'stdout:step {step} {} f1 {val_f1}' --harvest stdout:pdm_score -- printf 'step 1: loss 3 f1  0.5\r\nstep 2: loss 2 f1 0.75\nstep 3 f1\npdm_score: 0.8206\nmy_pdm_score: 1\npdm_score=tensor(0.8203)'
work
lockstep exp harvest out
points out

echo '--- the same metric in two files; damage; what is not there'
make two -- sh -c 'mkdir -p $LOCKSTEP_OUT/a/x $LOCKSTEP_OUT/b/x; echo "{\"f1\": 1}" >$LOCKSTEP_OUT/a/x/metrics.json; echo "{\"f1\": 2}" >$LOCKSTEP_OUT/b/x/metrics.json'
make bad -- sh -c 'printf "{\"f1\": 1}\n{\"f1\": \n{\"f1\": 3}\n" >$LOCKSTEP_OUT/metrics.jsonl'
make none -- true
make waits --after none -- true
work
fails lockstep exp harvest two
lockstep exp harvest two --rule 'a/*.json'
fails lockstep exp harvest bad
fails lockstep exp harvest none
fails lockstep exp harvest nobody
fails lockstep exp harvest
fails lockstep exp harvest bad --rule model.pt
fails lockstep exp harvest bad --rule ../metrics.csv
fails lockstep exp harvest bad --rule 'stdout:loss {loss'
fails lockstep exp new e --harvest 'stdout:{step}' -- true
fails lockstep exp template t --harvest x.bin -- true
f=$(ls runs/tb/attempt-1/out/logs/train/*)
for change in 'd[30] ^= 1' 'd[40] ^= 1' 'd[0] = 255' 'del d[-3:]' 'd[-20:] = b""' 'd[:8] = b"\xff" * 8' 'd[:12] = forged(1 << 62)'; do
	events --damage "$change" "$f" >broken
	rm -rf runs/none/attempt-1/out/*
	cp broken runs/none/attempt-1/out/events.out.tfevents.1
	fails lockstep exp harvest none
done

echo '--- all, and files that are gone'
fails lockstep exp harvest --all | grep -v 'fm:'
before=$(points tb)
rm -rf runs/tb
lockstep exp harvest --all >/dev/null 2>&1
[ "$before" = "$(points tb)" ] && echo kept
lockstep exp show --json csv | python3 -c 'import json, sys; d = json.load(sys.stdin); print([e["kind"] for e in d["history"]], d["metrics"]["val_loss"])'

echo '--- export'
lockstep exp new b --set lr=0.1 --set loss='"a", b' -- true >/dev/null
fails lockstep exp export
fails lockstep exp export table.xls
lockstep exp export table.csv
python3 - <<'P'
import csv, json
rows = {r["exp_id"]: r for r in csv.DictReader(open("table.csv"))}
print(list(rows["fm"])[:8], [k for k in rows["fm"] if "f1" in k or "loss" in k or k == "lr"])
print(rows["fm"]["num_gpus"], rows["fm"]["batch_size"], rows["fm"]["seed"], rows["csv"]["train_loss"], rows["csv"]["val_loss"], rows["b"]["set.loss"], rows["b"]["lr"])
P
lockstep exp export table.json --where 'seed=5'
python3 -c 'import json; rows = json.load(open("table.json")); print(len(rows), rows[0]["exp_id"], rows[0]["loss"] == json.loads(open("runs/fm/attempt-1/out/log.jsonl").read().splitlines()[-1])["loss"])'
lockstep exp export - --where num_gpus=0 --where 'val_loss<0' | cut -d, -f1
fails lockstep exp list --where colour=red
fails lockstep exp list --where red
lockstep exp check
