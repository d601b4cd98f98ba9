lockstep help nothing
