# the table is printed whole; a command beside --json would be passed over in silence
lockstep help --json doctor 2>&1; echo "-> $?"
lockstep help --json | head -n 1
lockstep help no-such 2>&1; echo "-> $?"
