# the status is the command's own; a signal is 128 + its number; what the command prints
# passes through
lockstep run -- sh -c 'echo out; exit 7'
echo "status $?"
lockstep run -- sh -c 'kill -9 $$'
echo "status $?"
lockstep run -- true
echo "status $?"
lockstep manifest show artifacts --json | python3 -c 'import json, sys; m = json.load(sys.stdin); print(m["state"], m["result"])'
