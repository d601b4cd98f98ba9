lockstep spec check --today 2026-11-15 kaggle-2025-09
