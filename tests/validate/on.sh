#!/usr/bin/env bash
# tests/validate/on.sh: tools/validate-on against an sshd of this test, with a stand-in
# program. What is seen: reports, statuses, and that nothing stays, also after Ctrl-C and
# kill -9.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
sshd=$(PATH=$PATH:/usr/sbin command -v sshd) || { echo "no sshd: tools/deps test installs openssh-server" >&2; exit 77; }
tmp=$(mktemp -d)
server=''
trap 'if [ -n "$server" ]; then kill "$server" 2>/dev/null; fi; rm -rf "$tmp"' EXIT
faults=0 done=0
expect() { # expect WHAT COMMAND…
	done=$((done + 1))
	if ! "${@:2}"; then
		faults=$((faults + 1))
		echo "not so: $1"
		tail -n 5 "$tmp/said" 2>/dev/null || true
	fi
}

# --- a server that only this test can enter; the other machine's /tmp is $tmp/there ---
mkdir "$tmp/there" "$tmp/here"
ssh-keygen -q -t ed25519 -N '' -f "$tmp/key"
ssh-keygen -q -t ed25519 -N '' -f "$tmp/host"
cp "$tmp/key.pub" "$tmp/keys"
if [ "$(id -u)" = 0 ]; then mkdir -p /run/sshd; fi
serve() { # the first free port from a random one
	local port
	for _ in $(seq 20); do
		port=$((20000 + RANDOM % 20000))
		cat >"$tmp/sshd" <<-EOF
			ListenAddress 127.0.0.1:$port
			HostKey $tmp/host
			AuthorizedKeysFile $tmp/keys
			PidFile none
			StrictModes no
			UsePAM no
			PasswordAuthentication no
			SetEnv TMPDIR=$tmp/there
		EOF
		"$sshd" -D -e -f "$tmp/sshd" 2>"$tmp/log" &
		server=$!
		touch "$tmp/log"
		until grep -q 'listening\|Cannot bind' "$tmp/log"; do
			kill -0 "$server" 2>/dev/null || break
			sleep 0.1
		done
		if grep -q listening "$tmp/log"; then break; fi
		kill "$server" 2>/dev/null || true
		server=''
	done
	[ -n "$server" ] || { cat "$tmp/log"; exit 1; }
	cat >"$tmp/ssh" <<-EOF
		Host gpu
		  HostName 127.0.0.1
		  Port $port
		  User $(id -un)
		  IdentityFile $tmp/key
		  IdentitiesOnly yes
		  BatchMode yes
		  UserKnownHostsFile $tmp/known
		  StrictHostKeyChecking no
		  LogLevel ERROR
	EOF
}
serve

# --- a program as validate is: progress, two reports, a status ---
program() { # program STATUS [COMMAND]
	cat >"$tmp/program" <<-EOF
		#!/bin/sh
		[ "\$1 \$3 \$4 \$5" = "validate --json -o report.md" ] || exit 9
		echo progress >&2
		touch "\$XDG_CACHE_HOME/kernel" "\$TMPDIR/left"
		printf '# report %s\n' "\$2" >report.md
		printf '{"mode": "%s"}' "\$2"
		${2:-:}
		exit $1
	EOF
}
status() { # status WANTED ARGUMENT…: validate-on with these arguments
	local rc=0
	"$root/tools/validate-on" -F "$tmp/ssh" -o "$tmp/here" "${@:2}" >"$tmp/said" 2>&1 || rc=$?
	[ "$rc" = "$1" ] || { echo "status $rc, not $1"; return 1; }
}
nothing_left() { [ -z "$(ls -A "$tmp/there")" ]; }
nothing_back() { [ -z "$(ls -A "$tmp/here")" ]; }
report() { cat "$tmp/here"/*-gpu-validate.md; }
json() { cat "$tmp/here"/*-gpu-validate.json; }

for code in 0 1 3 4; do
	rm -f "$tmp/here"/*
	program $code
	expect "status $code comes back" status $code --program "$tmp/program" gpu
	expect "report of $code" [ "$(report)" = "# report --quick" ]
	expect "JSON of $code" [ "$(json)" = '{"mode": "--quick"}' ]
	expect "progress is shown" grep -q progress "$tmp/said"
	expect "nothing stays after $code" nothing_left
done
program 0
expect "--full is passed on" status 0 --full --program "$tmp/program" gpu
expect "and seen" [ "$(json)" = '{"mode": "--full"}' ]

# --- a program that writes no report, one for another machine ---
rm -f "$tmp/here"/*
printf '#!/bin/sh\nexit 3\n' >"$tmp/program"
expect "no report, but a status" status 3 --program "$tmp/program" gpu
expect "no empty report" nothing_back
case $(uname -m) in x86_64) other="\\0267\\0" ;; *) other="\\076\\0" ;; esac
printf "%b" "\\0177ELF\\02\\01\\01\\0\\0\\0\\0\\0\\0\\0\\0\\0\\03\\0$other\\01" >"$tmp/elf"
expect "a program for another machine is 3" status 3 --program "$tmp/elf" gpu
expect "which is said" grep -q 'the program is for' "$tmp/said"
expect "and nothing stays" nothing_left

# --- interrupted: by Ctrl-C, by TERM, by kill -9 of the whole script, by the connection ---
waiting() { until [ -e "$tmp/started" ]; do sleep 0.1; done; }
gone() { # gone WHAT: by and by
	for _ in $(seq 600); do
		if ! kill -0 "$(cat "$tmp/started")" 2>/dev/null && nothing_left; then return; fi
		sleep 0.1
	done
	return 1
}
# The command that waits is told by a file, and killed with all of its group.
program 0 "sleep 1000 & echo \$! >$tmp/pid; mv $tmp/pid $tmp/started; wait"
for signal in INT:130 TERM:143 KILL:137; do
	rm -f "$tmp/started"
	set -m
	"$root/tools/validate-on" -F "$tmp/ssh" -o "$tmp/here" --program "$tmp/program" gpu >"$tmp/said" 2>&1 &
	script=$!
	set +m
	waiting
	kill "-${signal%:*}" -- "-$script"
	rc=0
	wait "$script" || rc=$?
	expect "status after $signal" [ "$rc" = "${signal#*:}" ]
	expect "program and folder are gone after $signal" gone
	expect "no report after $signal" nothing_back
done
rm -f "$tmp/started"
"$root/tools/validate-on" -F "$tmp/ssh" -o "$tmp/here" --program "$tmp/program" gpu >"$tmp/said" 2>&1 &
script=$!
waiting
pkill -KILL -P "$script" -x ssh
rc=0
wait "$script" || rc=$?
expect "a lost connection is 3" [ "$rc" = 3 ]
expect "and the machine is clean" gone
expect "no report of it" nothing_back

# --- the three cells of the page, in one kernel ---
cat >"$tmp/notebook.py" <<'EOF'
import re, sys
cells = re.findall(r"^```python\n(.*?)^```", open(sys.argv[1]).read(), re.S | re.M)
assert len(cells) == 3, len(cells)
kernel = {}
for cell in cells:
    exec(cell, kernel)
EOF
notebook() { # notebook WANTED: the cells with the program of status WANTED
	local rc=0
	program "$1"
	# as it comes from an upload: not executable; --version and validate alone
	sed '2s/.*/[ "$*" != --version ] || { echo 1; exit; }/' "$tmp/program" >"$tmp/cells/lockstep"
	rm -f "$tmp/cells"/report.*
	(cd "$tmp/cells" && XDG_CACHE_HOME=$tmp/cells TMPDIR=$tmp/cells python3 "$tmp/notebook.py" "$root/docs/guide-validate-elsewhere.md") \
		>"$tmp/said" 2>&1 || rc=$?
	grep -q '# report --full' "$tmp/said" && grep -q "status $1" "$tmp/said" && [ "$rc" = $(($1 != 0)) ]
}
mkdir "$tmp/cells"
expect "the cells show the report" notebook 0
expect "and stop where it differs" notebook 1
expect "or could not run" notebook 3

# --- what cannot be done ---
program 0
expect "an unknown option is 2" status 2 --fast gpu
expect "no host is 2" status 2
expect "no program is 2" status 2 --program "$tmp/none" gpu
expect "no folder is 2" status 2 -o "$tmp/none" --program "$tmp/program" gpu
sed -i 's/Port .*/Port 1/' "$tmp/ssh"
expect "no machine is 3" status 3 --program "$tmp/program" gpu
expect "which is said" grep -q 'no report came back' "$tmp/said"
echo "$done expectations, $faults not met"
[ "$faults" = 0 ] && [ "$done" -gt 45 ]
