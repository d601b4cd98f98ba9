# a day that is none would decide ends of life by accident
for day in tomorrow 2026-13-01 2026-00-10 2026-01-32 2026-1--01 2026-11-15x; do
	lockstep spec check --today $day kaggle-2025-09 2>&1; echo "-> $?"
done
lockstep spec check --today 2026-12-31 kaggle-2025-09 >/dev/null; echo "-> $?"
for epoch in x 12x -5 99999999999999999; do
	SOURCE_DATE_EPOCH=$epoch lockstep spec check kaggle-2025-09 2>&1; echo "-> $?"
	SOURCE_DATE_EPOCH=$epoch lockstep spec capture 2>&1; echo "-> $?"
	SOURCE_DATE_EPOCH=$epoch lockstep doctor 2>&1; echo "-> $?"
done
