# requirements.txt with the hashes of a lock; what does not fit the spec is told and
# nothing is written
a=$(printf 'a%.0s' {1..64}) b=$(printf 'b%.0s' {1..128})
cat >pin.json <<'E'
{"schema": 1, "name": "pin", "python": "3.12.x", "arch": "x86_64", "torch": "2.9.0+cu130", "packages": {"numpy": ">=2.2,<3"},
 "requirements": {"lines": ["uvicorn[standard]", "colorama; sys_platform == 'win32'"]}}
E
cat >lock.txt <<E
# made by pip-compile
--index-url https://example.org/simple
numpy==2.3.3 \\
    --hash=sha256:$a \\
    --hash=sha512:$b
    # via torch
Torch==2.9.0+cu130 --hash sha256:$a
uvicorn==0.30.1 --hash=sha256:$a
Typing_Extensions==4.12 ; python_version < "3.13" --hash=sha256:$a
E
lock() { lockstep spec render pin.json --requirements --lock "$1" -o out.txt; echo "-> $?"; }
lock lock.txt
cat out.txt
lock out.txt && cp out.txt again.txt
lockstep spec import out.txt 2>told | grep -E '"(torch|numpy|uvicorn)"'
grep -c 'hashes are not part' told
cat >report.json <<E
{"version": "1", "environment": {"python_full_version": "3.12.1", "platform_machine": "x86_64"}, "install": [
 {"metadata": {"name": "torch", "version": "2.9.0+cu130"}, "download_info": {"archive_info": {"hashes": {"sha256": "$a"}}}},
 {"metadata": {"name": "numpy", "version": "2.3.3"}, "download_info": {"archive_info": {"hashes": {"sha256": "$a"}}}},
 {"metadata": {"name": "uvicorn", "version": "0.30.1"}, "download_info": {"archive_info": {"hashes": {"sha256": "$a"}}}}]}
E
lock report.json
grep -c sha256 out.txt
rm out.txt
exec 2>&1
bad() { sed "$1" "$2" >bad.txt; lock bad.txt; }
bad 's/2.3.3/3.0.1/' lock.txt
bad 's/^numpy/nmpy/' lock.txt
bad 's/==0.30.1/>=0.30/' lock.txt
bad 's/ --hash.*//' lock.txt
bad 's/sha512/md5/' lock.txt
bad 's/--hash=sha512:b/&b/' lock.txt
bad 's/^uvicorn/numpy/' lock.txt
bad 's/^/#/' lock.txt
bad 's/3.12.1/3.11.2/' report.json
bad 's/x86_64/aarch64/' report.json
bad 's/"sha256"/"md5"/' report.json
bad 's/"install"/"list"/' report.json
bad 's/2.3.3/2.3.3 --pre/' report.json
printf 'numpy==1\0' >nul; lock nul
lock missing.txt
# what pip might have to run is not given to pip
echo '{"schema": 1, "name": "t", "requirements": {"lines": ["--no-binary=numpy"]}}' >option.json
lockstep spec render option.json --requirements --hashes --python /bin/true; echo "-> $?"
echo '{"schema": 1, "name": "t", "driver": ">=580"}' >nothing.json
lockstep spec render nothing.json --requirements --hashes --python /bin/true; echo "-> $?"
# no network, no pip, no answer
lockstep spec render pin.json --requirements --hashes --python /bin/false; echo "-> $?"
lockstep spec render pin.json --requirements --hashes --python /bin/true; echo "-> $?"
lockstep spec render pin.json --requirements --hashes --python ./missing; echo "-> $?"
lockstep spec render pin.json --conda --hashes; echo "-> $?"
ls out.txt
