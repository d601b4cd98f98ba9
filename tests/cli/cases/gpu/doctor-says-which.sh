# doctor's table and its JSON have where GPU code comes from, in the words of --version
. "$ROOT/tests/fake/machine.sh"
machine p100
said=$(lockstep --version | sed -n 's/^GPU kernels: //p')
doctor_as_it_is -v >table || exit
doctor_as_it_is --json >report || exit
words=$(printf '%s' "$said" | sed 's/^none: /absent: /;s| (/[^()]*)$||')
if grep -A 2 '^This program$' table | grep -qF "$words"; then echo "the table says so"; else cat table; fi
python3 - "$said" <<'END'
import json, sys
fact = [f for f in json.load(open("report"))["facts"] if f["key"] == "gpu_code"][0]
known = fact["state"] == "known"
ways = [fact["value"], "%s (%s)" % (fact["value"], fact["source"])] if known else ["none: " + fact["reason"]]
print("so does the report" if sys.argv[1] in ways and fact["source"] else fact)
END
