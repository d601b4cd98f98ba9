lockstep spec diff --json --markdown kaggle-2025-09 kaggle-2025-09
