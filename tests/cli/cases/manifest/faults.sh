# what is not a manifest is refused, naming the file and the key
lockstep manifest show nowhere; echo "status $?"
echo '{"schema": "other"}' >a && lockstep manifest show a; echo "status $?"
echo '[1]' >a && lockstep manifest show a; echo "status $?"
echo '{"schema": "lockstep.run/1", "lockstep": 3}' >a && lockstep manifest show a; echo "status $?"
printf '{"a": 1,\n' >a && lockstep manifest show a; echo "status $?"
lockstep run -o o -- true
sed 's/"state"/"stat"/' o/run_manifest.json >a && lockstep manifest show a; echo "status $?"
sed '0,/"host": /s//"hosts": 1, "host": /' o/run_manifest.json >a && lockstep manifest show a; echo "status $?"
lockstep manifest diff o a; echo "status $?"
