# Advice for a symptom and what is known of the GPUs: from tables, with this machine's
# figures; tables of one's own.
. "$ROOT/tests/fake/machine.sh"
machine kaggle
variables+=(COLUMNS=100)
doctor --symptom out-of-memory | sed '/^system/,$d'
doctor --symptom slow-training | sed -n '/^slow/,/^system/p' | tail -n 4
echo '== -v: a known kind, one without a record, one whose memory is unknown'
known() { doctor -v "$@" | sed -n '/^Known/,/^$/p'; }
base ubuntu 22.04 2.35
driver 550.54.15 12040
gpu 'NVIDIA GeForce RTX 3080' 8.6 10240 320
gpu 'NVIDIA GeForce RTX 3080' 8.6 10240 320
gpu 'NVIDIA L4' 8.9 23034 72
gpu 'NVIDIA A100-SXM4-80GB' 8.0 81920 400 mig=1 memory=!4
known
echo '== in the report'
doctor --symptom out-of-memory --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["symptom"]["symptom"], len(r["symptom"]["steps"]), [(g["batch"], [t["rating"] for t in g["tested"]]) for g in r["gpus"]])'
doctor --json | grep '"symptom"'
echo '== no GPU: the steps, and no batch size'
machine nodriver
doctor --symptom out-of-memory | sed -n '/^out-of/,/^system/p' | tail -n 4
echo '== of one'"'"'s own'
mkdir mine
echo '{"about": "x", "date": "2026-11-19", "rows": [{"symptom": "out-of-memory", "shows": "x", "steps": ["ask Anna"], "source": "x", "date": "x"}]}' >mine/advice.json
doctor --symptom out-of-memory --tables mine | sed -n '/^out-of/,/^$/p'
doctor --symptom slow-training --tables mine | sed -n '/^slow/,/^$/p'
exec 2>&1
echo '{"rows": [{"symptom": "out-of-memory", "shows": "x", "steps": [1], "source": "x", "date": "x"}]}' >mine/advice.json
doctor --tables mine; echo "status $?"
rm mine/*
echo '{"rows": [{"gpu": "L4"}]}' >mine/tested.json
doctor --tables mine; echo "status $?"
doctor --symptom headache; echo "status $?"
