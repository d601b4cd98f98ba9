# numbers as text are compared exactly; values of other kinds and other containers differ
cell() {
	printf 'x\n%s\n' "$1" >a.csv
	printf 'x\n%s\n' "$2" >b.csv
	lockstep compare a.csv b.csv >/dev/null
	echo "csv $1 $2: $?"
}
cell 9007199254740993 9007199254740992
cell 1e400 2e400
cell 0x10 16
cell 007 7
cell 0.1 0.1000000000000000055511151231257827
cell 1.50 15e-1
cell 1e400 10e399
cell nan NaN
cell 0 -0
cell 0.0 0e5
cell ' 5' 5
# cells that the heading does not name, a NUL within a cell, a byte order mark
lines() {
	printf "$2" >"a.$1"
	printf "$3" >"b.$1"
	lockstep compare "a.$1" "b.$1" >out
	echo "$1 $2 $3: $? $(sed -n 1p out)"
}
lines csv 'a,b\n1,2,3\n' 'a,b\n1,2,4\n'
lines csv 'a,b\n1,2,3\n' 'a,b\n1,2,3\n4,5\n'
lines csv 'a,b\n1,2,3,5\n' 'b,a\n2,1,3\n'
lines csv 'a\nx\0y\n' 'a\nx\0z\n'
lines csv 'a\n1\n' '\xef\xbb\xbfa\n1.0\n'
lines json '{"a": 1}' '\xef\xbb\xbf{"a":1}'
json() {
	printf '%s' "$1" >a.json
	printf '%s' "$2" >b.json
	lockstep compare a.json b.json >out
	echo "json $1 $2: $? $(sed -n '2p' out)"
}
json '[1]' '{"0": 1}'
json '{"a": []}' '{"a": {}}'
json '{"a": "1"}' '{"a": 1}'
json '{"a": null}' '{"a": "null"}'
json '{"a": NaN, "b": -Infinity}' '{"b": -Infinity, "a": NaN}'
json '{"a": 12345678901234567890}' '{"a": 12345678901234567891}'
json '{"a": 1e400}' '{"a": 1e401}'
json '{"a": "é\u00e9\ud83d\ude00"}' '{"a": "\u00e9é😀"}'
json '{"a": {"x": 1, "y": [2, 3]}, "b": 4}' '{"b": 4, "a": {"y": [2, 3.0], "x": 1}}'
json '{"a": 1, "c": {"d": 2}}' '{"c": {"d": 3, "e": 5}, "b": 1}'
json '{"a": 1} x' '{"a":  1} x'
json '{"b": 0, "a": 1, "a": 2}' '{"a": 1, "b": 0}'
# notebooks: lines or one text, a stream in pieces, counts, times and ids of the execution
python3 - <<'PY'
import copy, json

stream = [{"name": "stdout", "output_type": "stream", "text": ["one\n", "two\n"]}, {"name": "stdout", "output_type": "stream", "text": ["three\n"]}]
result = {"data": {"text/plain": ["[1,\n", " 2]"], "application/json": ["ab"]}, "execution_count": 1, "metadata": {}, "output_type": "execute_result"}
cell = {"cell_type": "code", "execution_count": 1, "id": "aa", "metadata": {}, "outputs": [*stream, result], "source": ["x = 1\n", "x"]}
a = {"cells": [cell, {"cell_type": "markdown", "id": "bb", "metadata": {}, "source": []}], "metadata": {"kernelspec": {"name": "python3"}}, "nbformat": 4, "nbformat_minor": 5}


def write(name, change):
    b = copy.deepcopy(a)
    change(b, b["cells"][0], b["cells"][0]["outputs"])
    json.dump(b, open(f"{name}.ipynb", "w"))


def again(b, cell, outputs):
    cell.update(execution_count=7, id="cc", source="x = 1\nx", metadata={"execution": {"iopub.status.busy": "2026"}})
    outputs[:2] = [{"name": "stdout", "output_type": "stream", "text": "one\ntwo\nthree\n"}]
    outputs[1].update(execution_count=7)


write("a", lambda b, cell, outputs: None)
write("again", again)
write("source", lambda b, cell, outputs: cell.update(source=["x = 2\n", "x"]))
write("output", lambda b, cell, outputs: outputs[2]["data"].update({"text/plain": ["[1,\n", " 3]"]}))
write("stream", lambda b, cell, outputs: outputs[1].update(name="stderr"))
write("json", lambda b, cell, outputs: outputs[2]["data"].update({"application/json": ["a", "b"]}))
write("cell", lambda b, cell, outputs: b["cells"].pop())
write("kernel", lambda b, cell, outputs: b["metadata"]["kernelspec"].update(name="julia"))
PY
for other in again source output stream json cell kernel; do
	echo "--- notebook $other"
	lockstep compare a.ipynb $other.ipynb
	echo "exit $?"
done
printf '{"cells": [{"id": "a1", "metadata": {"execution": {"iopub.status.busy": "2026-11-19T06:00"}}, "outputs": ["1"]}]}' >a.ipynb
printf '{"cells": [{"id": "b2", "metadata": {"execution": {"iopub.status.busy": "2026-11-19T07:00"}}, "outputs": ["1"]}]}' >b.ipynb
lockstep compare a.ipynb b.ipynb
sed -i 's/"1"/"2"/' b.ipynb
lockstep compare a.ipynb b.ipynb
