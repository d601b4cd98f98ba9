printf 'step,loss\n1,0.5\n2,0.25\n' >a.csv
printf 'loss,step\n0.50,1\n0.125,2\n' >b.csv
lockstep compare a.csv b.csv; echo "exit $?"
printf '{"a": 1.0, "b": [1, {"c": "x"}]}' >a.json
printf '{"b": [1.0, {"c": "x"}],\n "a": 1}' >b.json
lockstep compare a.json b.json; echo "exit $?"
printf '{"a": 1.0, "b": [1, {"c": "y"}], "d": []}' >b.json
lockstep compare a.json b.json; echo "exit $?"
printf '{"loss": 1}\n{"loss": 2}\n' >a.jsonl
printf '{"loss": 1.0}\n{"loss": 2.5, "lr": 1}\n{"loss": 3}\n' >b.jsonl
lockstep compare a.jsonl b.jsonl; echo "exit $?"
printf '{"loss": NaN}' >a.json
printf '{"loss": NaN}' >b.json
lockstep compare a.json b.json; echo "exit $?"
printf 'hello\n' >a.txt
printf 'hellO\nx' >b.txt
lockstep compare a.txt b.txt; echo "exit $?"
