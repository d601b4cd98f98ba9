lockstep spec render kaggle-2025-09 --github
