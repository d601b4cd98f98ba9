"""completion_has.py SCRIPT < `lockstep help --json`: every command and option of the
table stands in the script."""
import json
import sys

script = open(sys.argv[1]).read()
fish = sys.argv[1].endswith("fish")
missing = []


def walk(cmd):
    words = [cmd["name"]] + [("-l " if fish else "--") + o["name"] for o in cmd["options"]]
    missing.extend(w for w in words if w not in script)
    for sub in cmd["commands"]:
        walk(sub)


for cmd in json.load(sys.stdin)["commands"]:
    walk(cmd)
print(f"{sys.argv[1]}: missing {missing}")
sys.exit(bool(missing))
