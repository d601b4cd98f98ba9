# labels: once
# --exact: an unknown word is refused; a run without PyTorch says so; the package lies
# beside the hook and cannot be imported by the program
python=$(command -v python3)
lockstep run --exact=mild -- true
echo "status $?"
lockstep run --exact=strict -- "$python" -c 'print("ran")'
echo "status $?"
"$python" -c 'import json
m = json.load(open("artifacts/run_manifest.json"))
print(m["policy"]["exact"], m.get("exact"))'
lockstep run --exact -- "$python" -c '
import lockstep_hook, os
folder = os.path.dirname(lockstep_hook.__file__)
print(sorted(os.listdir(folder + "/lockstep"))[:2])
try:
    import lockstep
except ImportError as fault:
    print(fault)'
lockstep run -- "$python" -c '
import lockstep_hook, os
print(os.path.exists(os.path.dirname(lockstep_hook.__file__) + "/lockstep"))'
