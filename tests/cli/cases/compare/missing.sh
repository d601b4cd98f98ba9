echo x >a
lockstep compare a b
