lockstep help > /dev/full; echo "status $?"
