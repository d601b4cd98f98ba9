# What is the spec's own in the script; the rest is python/boot/boot.py
# (tests/render/boot.py runs it).
lockstep spec render kaggle-2025-09 --kaggle-boot | sed '1d;/^# What follows/q'
lockstep spec render kaggle-2025-09 --kaggle-boot | sed '1,/^# What follows/d' >rest
sed 1d "$ROOT/python/boot/boot.py" | cmp - rest
