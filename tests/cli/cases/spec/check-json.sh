SOURCE_DATE_EPOCH=1794700800 lockstep spec check --json gpu-inference-2024-11 || exit 9
lockstep spec check --json --today 2026-11-15 "$ROOT/tests/spec/training-as-documented.json" | python3 -c "
import json, sys
d = json.load(sys.stdin)
print(d[\"spec\"], d[\"sound\"], sorted({f[\"kind\"] for f in d[\"findings\"]}))"
