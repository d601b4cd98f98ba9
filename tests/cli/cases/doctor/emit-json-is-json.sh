# What --emit-json writes is what --json prints; nothing else is left in the folder.
. "$ROOT/tests/fake/machine.sh"
machine p100
doctor --json --emit-json r.json >out || exit
cmp out r.json && python3 "$ROOT/tests/cli/report_ok.py" r.json && ls
