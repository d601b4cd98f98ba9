# bad usage is refused before anything runs
lockstep verify --runs 1 -- touch started
lockstep verify --vary A -- touch started
lockstep verify --vary A=1 -- touch started
lockstep verify --control other -- touch started
lockstep verify -- no-such-program-here
lockstep verify -- python3 -I x.py
lockstep verify
echo "status $?"
find . -type f
