# the training image as its overview states it: a torch that never existed, an image and a
# driver branch that ended
lockstep spec check --today 2026-11-15 "$ROOT/tests/spec/training-as-documented.json"
