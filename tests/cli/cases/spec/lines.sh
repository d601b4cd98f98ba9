# Further lines for pip: direct references and hashes; paths of this machine, options
# with them and half hashes are refused.
hash=$(printf '%064d' 7)
spec() { printf '{"schema": 1, "name": "t", "python": "3.12.x", "image": {"base": "python:3.12-slim"}, "requirements": {"lines": ["%s"]}}' "$1" >t.json; }
take() { spec "$1"; lockstep spec render t.json --requirements | grep -v '^#'; }
take 'mine @ https://example.org/mine-1.0-py3-none-any.whl#sha256=00ff'
take 'mine[a,b] @ git+https://example.org/mine.git@v1.2 ; python_version > \"3.10\"'
take "mine==1.0 --hash=sha256:$hash --hash=sha256:$hash"
echo '== on a command line a reference is one word, and a hash has no place'
spec 'mine @ https://example.org/a%20b.whl?x=1&y=2'
lockstep spec render t.json --dockerfile | grep -c "'mine @ https://example.org/a%20b.whl?x=1&y=2'"
lockstep spec render t.json --conda | grep '@'
exec 2>&1
spec "mine==1.0 --hash=sha256:$hash"
lockstep spec render t.json --dockerfile; echo "-> $?"
lockstep spec render t.json --kaggle-boot; echo "-> $?"
echo '== refused'
for line in 'mine @ ../mine' 'mine @ /srv/mine' '/srv/mine' '-r /etc/passwd' '--index-url https://example.org' '-e @ https://example.org' \
	'mine==1 --hash=sha256:12' 'mine==1 --hash=md5:'"$hash" \
	'mine @ https://a/$(id)' 'mine @ https://a/`id`' 'mine @ ' \
	'mine==1 # x'; do
	spec "$line"
	lockstep spec check t.json | tail -n 1; echo "-> ${PIPESTATUS[0]}"
done
