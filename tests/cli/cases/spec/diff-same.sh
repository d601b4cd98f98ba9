lockstep spec diff kaggle-2025-09 kaggle-2025-09 && lockstep spec diff --markdown kaggle-2025-09 kaggle-2025-09
