# requirements.txt and pip freeze, from a file or a pipe
export SOURCE_DATE_EPOCH=1794873600
cp "$ROOT/tests/fuzz/corpus/import/requirements.txt" .
lockstep spec import requirements.txt
echo "-> $?"
printf 'numpy==2.3.3\ntorch==2.14.0+cu130\ntriton==3.5.0\n' | lockstep spec import --name frozen - >frozen.json
lockstep spec render frozen.json --requirements | grep -v '^#'
# no such file
echo '{"a": 1}' >x.json
lockstep spec import x.json
echo "-> $?"
printf '???\n' >x.txt
lockstep spec import x.txt
echo "-> $?"
: >empty.txt
lockstep spec import empty.txt
echo "-> $?"
printf 'a\0b' >nul.txt
lockstep spec import nul.txt
echo "-> $?"
lockstep spec import nowhere.txt
echo "-> $?"
lockstep spec import --name 'a b' requirements.txt
echo "-> $?"
head -c 5000000 /dev/zero | tr '\0' 'a' >large.txt
lockstep spec import large.txt
echo "-> $?"
# a list of what is left that does not end is cut
yes '???' | head -3000 | { cat; echo numpy; } | lockstep spec import - 2>&1 >/dev/null | tail -1
