# The spread over the seeds of a group, two groups, equal digests; list --by. The figures
# are the statistics that tests/stats checks against scipy: here it is about which runs
# count.
set -u
fails() { "$@" 2>&1; echo "exit $?"; }
lockstep exp init >/dev/null
run() { lockstep exp submit "$@" && lockstep worker --once --gpus none --cpus 4 2>/dev/null; }
# the score of a seed is given; {out}/model has the same bytes for a seed, whatever the
# group
cat >train.sh <<'S'
case $1 in 1) s=0.8206 ;; 2) s=0.8198 ;; 3) s=0.8214 ;; *) s=nan ;; esac
echo "pdm_score: $(python3 -c "print(float('$s') + $2)")"
echo "{\"loss\": 0.$1}" >$3/metrics.jsonl
S
lockstep exp template t --harvest stdout:pdm_score --harvest metrics.jsonl -- sh train.sh '{seed}' '{shift}' '{out}'
lockstep exp new b15_l40s --template t --set shift=0 --seeds 1,2,3 --partition l40s --batch-size 48 >/dev/null
lockstep exp new b15_h200 --template t --set shift=0.0002 --seeds 1,2,3 --partition h200 --batch-size 96 >/dev/null
lockstep exp new worse --template t --set shift=-0.02 --seeds 1,2,3 --partition h200 >/dev/null
lockstep exp new lost --template t --set shift=0 --seeds 1,9 >/dev/null
lockstep exp new single --template t --set shift=0 --seed 1 >/dev/null
run b15_l40s b15_h200 worse lost single
fails lockstep exp variance b15_l40s
lockstep exp harvest --all | head -n 1

echo '--- one group'
fails lockstep exp variance b15_l40s --metric pdm_score
fails lockstep exp variance --exp-prefix b15_l40s
fails lockstep exp variance lost -m pdm_score
fails lockstep exp variance single -m pdm_score
fails lockstep exp variance nobody
fails lockstep exp variance
fails lockstep exp variance a b c
fails lockstep exp variance b15_l40s b15_h200
fails lockstep exp variance b15_l40s --margin much

echo '--- two groups'
fails lockstep exp variance b15_l40s b15_h200 -m pdm_score
fails lockstep exp variance b15_l40s worse -m pdm_score
fails lockstep exp variance b15_l40s b15_h200 -m pdm_score --margin 0.0001
fails lockstep exp variance b15_l40s single -m pdm_score
lockstep exp variance b15_l40s b15_h200 -m pdm_score --json | python3 -c 'import json, sys
m = json.load(sys.stdin)["metrics"][0]
print(m["metric"], [g["name"] for g in m["groups"]], [r["seed"] for r in m["groups"][0]["runs"]], m["comparison"]["verdict"])'

echo '--- a group that is not finished; a seed twice'
lockstep exp new b15_l40s_seed4 --template t --set shift=0 --seed 4 >/dev/null
lockstep exp new b15_l40s_again --template t --set shift=0 --seed 1 >/dev/null
lockstep exp submit b15_l40s_again
lockstep worker --once --gpus none 2>/dev/null
lockstep exp harvest b15_l40s_again >/dev/null
fails lockstep exp variance b15_l40s_ -m pdm_score

echo '--- equal digests need no test'
printf '1 1:1 2:1\n0 1:1 3:1\n' >data.txt
for n in fm_a fm_b; do
	lockstep exp new $n --seeds 1,2 --level 1 -- lockstep fm train data.txt -o '{out}/model.safetensors' --epochs 1 --seed '{seed}' >/dev/null
	lockstep exp submit $n
done
lockstep exp new fm_c --seeds 1,3 --level 1 -- lockstep fm train data.txt -o '{out}/model.safetensors' --epochs 1 --seed '{seed}' >/dev/null
run fm_c
lockstep exp harvest fm_a fm_b fm_c --rule 'stdout:loss {loss}' >/dev/null
fails lockstep exp variance fm_a fm_b -m loss
lockstep exp variance fm_a fm_c -m loss | grep -c "same bytes"

echo '--- SVG'
lockstep exp variance b15_l40s worse -m pdm_score --svg plot.svg >/dev/null
python3 -c 'import xml.dom.minidom as x; d = x.parse("plot.svg"); print(len(d.getElementsByTagName("circle")), len([p for p in d.getElementsByTagName("path")]))'

echo '--- list --by'
lockstep exp list --by group --columns partition,batch_size,pdm_score --where 'group!=' | sed 's/  */ /g'
lockstep exp list --by partition --columns pdm_score --sort -runs | sed 's/  */ /g'
lockstep exp list --columns name,pdm_score --where pdm_score\>0.8 --sort -pdm_score | head -n 3
fails lockstep exp list --columns name,pdm_scor
fails lockstep exp list --by colour
