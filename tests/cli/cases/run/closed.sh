# an interpreter that would shut the hook out is refused, or noticed and turned into
# failure
echo 'print("ran")' >p.py
lockstep run -- python3 -I p.py
lockstep run -- python3 -sE p.py
lockstep run -- env -i python3 p.py
lockstep run -- env PYTHONPATH=/x python3 p.py
lockstep run -- nice -n 1 python3 -S p.py
printf '#!/usr/bin/env -S python3 -I\nprint("ran")\n' >s.py && chmod +x s.py
lockstep run -- ./s.py
ls -d artifacts 2>/dev/null
lockstep run -- python3 -c 'import sys; print(sys.argv)' -I
echo "status $?"
lockstep run -- python3 -W ignore -X utf8 p.py
echo "status $?"
printf '#!/bin/sh\npython3 -I -c "import time; time.sleep(1.5)"\n' >w.sh && chmod +x w.sh
lockstep run -- ./w.sh 2>notes
echo "status $?"
sed 's|interpreter: .*python3|interpreter: python3|' notes
