lockstep spec check --today tomorrow kaggle-2025-09
