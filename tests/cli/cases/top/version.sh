lockstep --version | head -2; lockstep --version --json | python3 -c "import json,sys; print(sorted(json.load(sys.stdin)))"
