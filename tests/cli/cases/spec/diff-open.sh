# A comparison that compared nothing, or that did not see what is required, is neither
# drift nor none: status 3.
. "$ROOT/tests/fake/machine.sh"
diff_of() { lockstep spec diff "$@"; echo "status $?"; }
echo '{"schema": 1, "name": "empty"}' >empty.json
echo '{"schema": 1, "name": "old", "torch": "2.3.1+cu121", "driver": ">=525", "env": {"X": {"match": "1", "level": "recommended"}}}' >old.json
capture() { env -i PATH=/usr/bin:/bin SOURCE_DATE_EPOCH=1757116800 LOCKSTEP_ROOT="$root" LS_FAKE_NVML="$script" "$(command -v lockstep)" spec capture "$@"; }
echo '== nothing to compare'
diff_of empty.json empty.json
echo '== a machine without a driver: that is for want of a GPU'
machine nodriver
capture --name fresh -o fresh.json
diff_of old.json fresh.json | tail -n 2
echo '== and without a Python that could be asked'
rm "$root"/usr/bin/python3*
printf '#!/bin/sh\n' >"$root/usr/bin/python3" && chmod +x "$root/usr/bin/python3"
capture --name fresh -o fresh.json
diff_of old.json fresh.json | tail -n 2
diff_of --markdown old.json fresh.json | sed -n 3p
lockstep spec diff --json old.json fresh.json | grep -e open
echo '== drift is drift all the same'
sed 's/"driver"/"glibc": "2.1", "driver"/' old.json >both.json
diff_of both.json fresh.json | tail -n 2
echo '== check: a spec that requires nothing is not sound'
lockstep spec check --today 2026-11-19 empty.json
echo "status $?"
