lockstep --version | head -1; lockstep --version --json | python3 -c "import json,sys; print(sorted(json.load(sys.stdin)))"
