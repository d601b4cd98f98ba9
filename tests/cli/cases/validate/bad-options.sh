# wrong usage is found before anything is trained
try() { echo "\$ lockstep validate $*"; lockstep validate "$@" 2>&1; echo "exit $?"; }
try --quick --full
try --device gpu
try --device cuda:x
try --device auto
try --threads 3
try leftover
try --device cpu -o missing/report.md
try --device cpu -o .
