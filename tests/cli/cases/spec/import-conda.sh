# environment.yml becomes a spec; what has no place in one is told with its line
cp "$ROOT/tests/fuzz/corpus/import/conda.yml" environment.yml
export SOURCE_DATE_EPOCH=1794873600
lockstep spec import environment.yml -o spec.json
echo "-> $?"
cat spec.json
lockstep spec check --today 2026-11-15 spec.json
lockstep spec import --json --name other environment.yml -o other.json | head -4
# a wrong file is told as what it is, wherever a spec is wanted
for c in "spec check" "spec render --requirements" "doctor --spec" "spec diff spec.json"; do
	lockstep $c environment.yml
	echo "$c -> $?"
done
cp "$ROOT/tests/fuzz/corpus/import/requirements.txt" .
cp "$ROOT/tests/fuzz/corpus/import/Dockerfile" .
lockstep spec check requirements.txt
lockstep spec check Dockerfile
# what is YAML, but not of the part that is read, names the line
yml() { printf -- "$1" >bad.yml; lockstep spec import bad.yml >/dev/null; echo "-> $?"; }
yml 'name: x\ndependencies: *all\n'
yml 'name: x\n'
yml 'dependencies:\n  - a\n   - b\n'
yml 'dependencies:\n\t- a\n'
yml 'dependencies:\n  - "a\n'
yml 'dependencies: [a\n'
yml 'a: 1\na: 2\n'
yml 'a: |\n  text\n'
yml 'a\n'
yml '---\ndependencies: [a]\n---\nb: 1\n'
yml ''
yml 'dependencies:\n  - zlib[x]\n'
