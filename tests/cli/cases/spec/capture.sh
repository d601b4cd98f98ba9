# the machine as a spec: it loads again, and the same machine has not drifted from it
lockstep spec capture --name here -o a.json && lockstep spec capture --name here >b.json || exit 9
lockstep spec diff a.json b.json
lockstep spec capture --name 'not a name'; echo $?
lockstep spec capture --python /nowhere/python3 -o c.json; echo $?
lockstep spec capture --like nothing-of-the-sort; echo $?
ls
