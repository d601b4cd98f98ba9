# the program does not wait for the facts of the machine: an nvcc that answers only once
# the program runs is heard all the same
mkdir bin
cat >bin/nvcc <<SH
#!/bin/sh
while [ ! -e "$PWD/started" ]; do sleep 0.02; done
echo 'Cuda compilation tools, release 12.4, V12.4.131'
SH
chmod +x bin/nvcc
PATH=$PWD/bin:$PATH lockstep run -- touch started
echo "status $?"
python3 -c 'import json; print([(f["key"], f["value"]) for f in json.load(open("artifacts/run_manifest.json"))["environment"] if f["value"] and "12.4" in str(f["value"])])'
