# identical, different, nothing written, a failing run, a seed that is not followed
lockstep verify -- sh -c 'echo same >{out}/x'
echo "status $?"
lockstep verify --runs 3 -- sh -c 'echo run >>n; wc -l <n >{out}/x' | grep -v '^ *$'
echo "status ${PIPESTATUS[0]}"
lockstep verify -- true
echo "status $?"
lockstep verify -- sh -c 'echo oh; exit 3'
echo "status $?"
cat artifacts/verify/004/run1.log
lockstep verify --control seed -- sh -c 'echo same >{out}/x'
echo "status $?"
lockstep verify --control seed -- sh -c 'echo $LOCKSTEP_SEED >{out}/x'
echo "status $?"
lockstep verify --vary A=1,2 --vary B=x,y,z --runs 3 --ignore x -o v -- sh -c 'echo $A $B >{out}/x; echo 1 >{out}/y'
echo "status $?"
cat v/001/run?/x
ls v/001
# all runs see the same path, which is therefore no difference
lockstep verify -o w --runs 3 -- sh -c 'echo {out} $LOCKSTEP_OUT >{out}/x'
echo "status $?"
cat w/001/run3/x
ls w/001
