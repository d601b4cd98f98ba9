# a killed program leaves a finished manifest; a killed lockstep leaves one that says it
# is unfinished; SIGTERM is passed on
lockstep run -o a -- python3 -c 'import os; open(os.environ["LOCKSTEP_OUT"] + "/half", "w").write("x"); os.kill(os.getpid(), 9)'
echo "status $?"
lockstep manifest show a | grep -E '^(state|held|result|outputs)' 
lockstep run -o b -- sh -c 'echo $$ >pid; exec sleep 30' &
while [ ! -s pid ]; do sleep 0.05; done
lockstep manifest show b | grep -E '^(state|result)'
kill -TERM $!
wait $!
echo "status $?"
lockstep manifest show b | grep -E '^(state|result)'
