# and the same spec once its parts have ended
lockstep spec check --today 2026-11-15 gpu-training-2026-11 || exit 9
lockstep spec check --today 2029-01-01 gpu-training-2026-11
