lockstep 2>&1 | head -1; lockstep completoin; echo "status $?"; lockstep --nope
