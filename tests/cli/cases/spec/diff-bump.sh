# a version bump, as its author would look at it
sed -e "s/2\.3\.1+cu121/2.4.1+cu121/" -e "s/0\.18\.1/0.19.1/" -e "s/\"8\.x\"/\"9.x\"/" "$ROOT/specs/kaggle-2025-09.json" >new.json
lockstep spec diff kaggle-2025-09 new.json
[ $? = 1 ] || exit 9
lockstep spec diff --markdown kaggle-2025-09 new.json
[ $? = 1 ] || exit 9
lockstep spec diff --json kaggle-2025-09 new.json | python3 -c "
import json, sys
print([c[\"key\"] for c in json.load(sys.stdin)[\"components\"] if c[\"drifted\"]])"
sed "s/\"numpy\": \"1.26.4\"/\"numpy\": {\"match\": \"1.26.4\", \"level\": \"informational\"}/" "$ROOT/specs/kaggle-2025-09.json" >level.json
lockstep spec diff kaggle-2025-09 level.json
