# YAML by value, whatever its style; what versions of YAML read differently never becomes
# equal
yaml() {
	printf -- "$1" >a.yaml
	printf -- "$2" >b.yml
	lockstep compare a.yaml b.yml >out 2>&1
	echo "$1 | $2: $? $(grep -oE 'compared as.*|differs: [0-9/]+ values' out | tail -n 1)"
}
yaml 'a: 1\nb: [x, z]\n' '# c\n"b":\n- x\n- "z"\na: 1.0 # d\n'
yaml 'a: {b: {c: null}}\n' 'a:\n  b:\n    c:\n'
yaml 'a: "x y"\n' 'a: x\n  y\n'
yaml 'a: "x\\u00e9\\ty\\nz\\n"\n' 'a: |\n  xé\ty\n  z\n'
yaml 'a: |\n  x\n\n  y\n' 'a: >\n  x\n\n\n  y\n'
yaml 'a: >-\n  x\n  y\n   z\n' 'a: "x y\\n z"\n'
yaml 'a: &k [1, 2]\nb: *k\n' 'a: [1, 2]\nb: [1, 2]\n'
yaml '- - 1\n  - a: 2\n    b: 3\n' '[[1, {b: 3, a: 2}]]\n'
yaml 'a: 1\n' 'a: "1"\n'
yaml 'a: null\n' 'a: "null"\n'
yaml '1: x\n' '"1": x\n'
yaml 'a: yes\n' 'a: "yes"\n'
yaml 'lr: 1e-4\n' 'lr: 0.0001\n'
yaml 'lr: 1.0e-4\n' 'lr: 0.0001\n'
yaml 'a: 010\n' 'a: 8\n'
yaml 'a: 2026-01-01\n' 'a: "2026-01-01"\n'
yaml 'a: !!python/tuple [1]\n' 'a: [1]\n'
yaml 'a: []\n' 'a: {}\n'
yaml 'a: {b: 1}\n' 'a.b: 1\n'
yaml 'a: |\n  x\n' 'a: |-\n  x\n'
yaml 'a: 9007199254740993\n' 'a: 9007199254740992\n'
# what is not read is compared by byte, and it is said
yaml 'a: 1\n---\nb: 2\n' 'a: 1\n---\nb: 3\n'
yaml 'a: 1\na: 2\n' 'a: 2\n'
yaml 'a: *b\n' 'a: 1\n'
yaml '? [x]\n: y\n' 'a: 1\n'
yaml 'a:\n\t- 1\n' 'a:\n - 1\n'
yaml '%%YAML 1.1\n---\na: 1\n' 'a: 1\n'
yaml 'a: b: c\n' 'a: 1\n'
yaml '[1, 2\n' '[1, 2]\n'
yaml '"x\n' 'x\n'
# aliases of aliases, 10^9 texts
python3 - <<'PY'
for name, last in (("a.yaml", "x"), ("b.yaml", "y")):
    lines = ['a0: &a0 ["%s"]' % last] + ["a%d: &a%d [%s]" % (i, i, ", ".join(["*a%d" % (i - 1)] * 10)) for i in range(1, 10)]
    open(name, "w").write("\n".join(lines))
    open("deep-" + name, "w").write("[" * 5000 + last + "]" * 5000)
PY
for f in '' deep-; do
	lockstep compare ${f}a.yaml ${f}b.yaml | grep -o 'compared as.*'
done
