# a full disk, a folder that is none: status 4, the old file stays, nothing half-written
# is left
mkdir full target && echo old >full/r.txt && echo plain >file
(
	trap '' XFSZ
	ulimit -f 0 # every write to a file fails, as on a full disk
	lockstep spec render kaggle-2025-09 --requirements -o full/r.txt 2>&1 | cat
	echo "${PIPESTATUS[0]}" | cat
	lockstep spec capture -o full/c.json 2>&1 | cat
	echo "${PIPESTATUS[0]}" | cat
) | cat >said
cat said
lockstep spec render kaggle-2025-09 --requirements -o file/r.txt 2>&1; echo $?
lockstep spec render kaggle-2025-09 --requirements -o target 2>&1; echo $?
lockstep spec render kaggle-2025-09 --requirements >/dev/full; echo $?
cat full/r.txt; find . -type f | sort
