# what files and arguments hold reaches the terminal of an error message escaped,
# printable UTF-8 as it is
python3 - <<'P'
import json, struct, zipfile
header = json.dumps({"a\x1b[2J\r\n\x9b\u202eé": {"dtype": "F99", "shape": [1], "data_offsets": [0, 4]}}).encode()
open("model", "wb").write(struct.pack("<Q", len(header)) + header + bytes(4))
with zipfile.ZipFile("data.npz", "w") as z:
    z.writestr("indptr\x1b]0;x\x07é.npy", b"no array")
P
try() { lockstep "$@"; echo "status $?"; }
try fm digest model
try fm convert data.npz -o out.lsd
try fm digest $'no\e[31m\xffsuch é'
try fm digest --no$'\e[31m'such
try fm $'\e[31m'
try $'\e[31m'
# and so do names on standard output, where each has one line
d=$ROOT/tests/data
lockstep fm train "$d/small.svm" -o m -q
odd=$'odd\n\e[31m\xff é'
cp m "$odd"
lockstep fm digest "$odd" m | cut -c 65-
lockstep fm convert "$d/small.svm" -o "$odd" | sed 's/^digest .*/digest/'
