exec 2>&1
lockstep doctor --python /no/such/python; echo "status $?"
lockstep doctor --python /etc; echo "status $?"
lockstep doctor --emit-json -; echo "status $?"
lockstep doctor --emit-json /no/such/folder/r.json; echo "status $?"
lockstep doctor --spce x; echo "status $?"
lockstep doctor extra; echo "status $?"
