lockstep spec list && lockstep spec list --json
