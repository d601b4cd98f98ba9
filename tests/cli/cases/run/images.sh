# each process image of Python must leave a record of its own: what exec puts in the place of a recorded one, or embeds Python
echo 'print("ran")' >p.py
try() {
	lockstep run -- "$@" 2>notes
	echo "status $? $(sed "s|interpreter: [^ ]*python[^ ]*|interpreter: python|" notes)"
	python3 -c 'import json; h = json.load(open("artifacts/run_manifest.json"))["hook"]; print(h["held"], h["count"])'
}
try python3 -c 'import os, sys; os.execv(sys.executable, ["python3", "-I", "p.py"])'
try python3 -c 'import os, sys; os.execlp("python3", "python3", "-I", "-c", "import time; time.sleep(0.4)")'
try python3 -c 'import os, sys; os.execv(sys.executable, ["python3", "p.py"])'
try python3 -c 'import os
try: os.execv("/etc/passwd", ["x"])
except OSError: print("not executable")
try: os.execvp("no-such-program", ["x"])
except OSError: print("no such program")'
try python3 -c 'import subprocess, sys; subprocess.run([sys.executable, "-I", "-c", "import time; time.sleep(0.4)"], preexec_fn=lambda: None)'
# nothing to hold is not "yes"
try true
lockstep manifest show artifacts | grep '^held'
