# a pipe is no file to map, and nobody waits for its writer
mkfifo p
echo x >x
lockstep compare p x 2>&1
echo "status $?"
