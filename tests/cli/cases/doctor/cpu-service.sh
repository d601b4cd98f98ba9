# A service on the CPU: its spec speaks of no GPU, so nothing is said about one, with and
# without a GPU in the machine.
. "$ROOT/tests/fake/machine.sh"
service() {
	base debian 12 2.36
	variables=()
	python "/usr/local/bin/python${1%.*}" "$1"
	ln -s "python${1%.*}" "$root/usr/local/bin/python3"
	variables=(PATH=/usr/local/bin:/usr/bin)
}
gate() { doctor --spec gpu-inference-2024-11 --fail-on-mismatch "$@"; echo "status $?"; }
service 3.11.9
gate
echo '== a machine that happens to have a GPU, and a driver that fails'
driver 535.161.08 12020
gpu 'Tesla T4' 7.5 15360 70
echo 'init 9' >>"$script"
gate | grep -v '^ '
echo '== another Python'
service 3.12.4
gate | head -n 4
echo '== a torch without CUDA is right for a spec that pins one'
service 3.11.9
torch /usr/local/lib/python3.11/site-packages 2.5.1+cpu None x
echo '{"schema": 1, "name": "cpu", "torch": "2.5.1+cpu"}' >cpu.json
doctor --spec cpu.json --fail-on-mismatch | head -n 3; echo "status ${PIPESTATUS[0]}"
echo '== and --cuda, which demands a GPU, is not green there'
doctor --cuda --spec cpu.json --fail-on-mismatch | head -n 1; echo "status ${PIPESTATUS[0]}"
echo '== the gates rendered for a service or a torch without CUDA demand none'
service 3.11.9
torch /usr/local/lib/python3.11/site-packages 2.5.1+cpu None x
echo '{"schema": 1, "name": "cpu", "image": {"base": "python:3.11-slim", "tag": "x/y:z"}, "torch": "2.5.1+cpu"}' >cpu.json
echo '{"schema": 1, "name": "gpu", "image": {"base": "python:3.11-slim", "tag": "x/y:z"}, "torch": "2.5.1+cu121"}' >gpu.json
for spec in gpu-inference-2024-11 cpu.json gpu.json; do
	for kind in makefile dockerfile github kaggle-boot; do
		lockstep spec render $spec --$kind >out.$kind
		echo "$spec $kind: $(grep -cE 'doctor.*--cuda|"cuda": 1' out.$kind)"
	done
	read -ra gate < <(make -n -f out.makefile cuda.parity | sed 's/^lockstep doctor //')
	doctor "${gate[@]}" | head -n 1; echo "status ${PIPESTATUS[0]}"
done
