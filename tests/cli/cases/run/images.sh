# each process image of Python must leave a record of its own: what exec puts in the place
# of a recorded one, or embeds Python
echo 'print("ran")' >p.py
try() {
	lockstep run -- "$@" 2>notes
	echo "status $? $(sed "s|interpreter: [^ ]*python[^ ]*|interpreter: python|; s/Python 3[0-9.]*/Python 3/" notes)"
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
# a child that is gone before anybody sees it, or is seen as well: by its options, by its
# environment, through a shell, by posix_spawn
try python3 -c 'import subprocess, sys; subprocess.run([sys.executable, "-I", "p.py"])'
try python3 -c 'import subprocess, sys; subprocess.run([sys.executable, "p.py"], env={})'
try python3 -c 'import os; os.system("python3 -S p.py; true")' | sed 's/lockstep: .*//; /^$/d' | sort -u
try python3 -c 'import os, sys; os.waitpid(os.posix_spawn(sys.executable, ["python3", "-E", "p.py"], os.environ), 0)' | sed 's/lockstep: .*//; /^$/d' | sort -u
# what only looks like that
try python3 -c 'import os, subprocess, sys; subprocess.run(["ls", "-I", "x", "p.py"], env={}); os.system("python3 -IV >&2 2>/dev/null"); subprocess.run([sys.executable, "p.py", "-I"])'
# nothing to hold is not "yes"
try true
lockstep manifest show artifacts | grep '^held'
