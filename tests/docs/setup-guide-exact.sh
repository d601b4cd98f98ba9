cat >train.py <<'PY'
import os
open(os.environ["LOCKSTEP_OUT"] + "/result", "w").write("1\n")
PY
