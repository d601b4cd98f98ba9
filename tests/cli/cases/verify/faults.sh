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
# what is collected must not be there before, nor have two places after
mkdir there
lockstep verify --collect there -- touch started
lockstep verify --collect . -- touch started
lockstep verify --collect '' -- touch started
lockstep verify --collect x/ --collect y/x -- touch started
lockstep verify --collect /proc/nothing -- touch started
lockstep verify --seeds 2 --metric x --collect there -- touch started
find . -type f
