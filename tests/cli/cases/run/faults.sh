# bad usage names what is wrong, exits 2 and starts nothing
lockstep run --level 4 -- true
lockstep run --seed -1 -- true
lockstep run --precision fp8 -- true
lockstep run -- no-such-program-here
lockstep run --input nowhere -- touch started
lockstep run --env NOEQUALS -- touch started
touch file
lockstep run --out file -- touch started
lockstep run --out a:b -- touch started
lockstep run
echo "status $?"
ls
