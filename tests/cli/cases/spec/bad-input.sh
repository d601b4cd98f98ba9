# every message names the file, and line and column or the key
t() { lockstep spec check "$@"; echo "-> $?"; }
t nowhere.json
t kagle-2025-09
printf '{\n  "schema": 1,\n  "name": "t",\n  "torch": "2.3.1' >cut.json; t cut.json
echo '{"schema": 1, "name": "t", "torch": 2.3}' >type.json; t type.json
echo '{"schema": 1, "name": "t", "torhc": "2.3.1"}' >key.json; t key.json
echo '{"schema": 1, "name": "t", "torch": "2.3.1", "torch": "2.3.1"}' >twice.json; t twice.json
echo '{"schema": 1, "name": "t", "packages": {"num py": "1"}}' >name.json; t name.json
echo '{"schema": 1, "name": "t", "python": ">=three"}' >match.json; t match.json
echo '{"schema": 1, "name": "t", "hardware": {"minimum": {"vram": "much"}}}' >memory.json; t memory.json
for gpus in '{"count": [null]}' '{"count": 0}' '{"memory": 16}' '{"one_of": [{"name": "T4", "count": "x y"}]}' '"NVIDIA"' '" "'; do
	echo "{\"schema\": 1, \"name\": \"t\", \"gpus\": $gpus}" >gpus.json; t gpus.json
done
echo '[1, 2]' >list.json; t list.json
echo '{"spec": "report"}' >other.json; t other.json
: >empty.json; t empty.json
yes $'\x81\x02\xff' | head -c 10485760 >garbage.json
t garbage.json
python3 -c 'print("[" * 5000000)' >deep.json; t deep.json
head -c 20000000 /dev/zero >zeros.json; t zeros.json
t . ; t /proc/self/mem
lockstep spec check - <key.json; echo "-> $?"
