# labels: isa
mkdir a
echo x >b
lockstep compare a b
