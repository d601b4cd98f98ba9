# an ffm or fwfm over one field is a model like others: it can be read back, and resumed
printf '1 0:3:1 0:5:0.5\n0 0:2:1 0:3:2\n1 0:5:1\n' > data.ffm
for kind in ffm fwfm; do
	lockstep fm train data.ffm --kind $kind --epochs 4 -o whole -q
	lockstep fm train data.ffm --kind $kind --epochs 2 -o half --checkpoint c.$kind -q
	lockstep fm train data.ffm --kind $kind --epochs 4 -o rest --checkpoint c.$kind --resume -q && cmp whole rest
	lockstep fm predict whole data.ffm -o scores && wc -l < scores
done

# rows without entries have no field that could be missing: the bias alone speaks,
# whatever is beside them
printf '1\n0\n' > empty
lockstep fm convert empty -o empty.lsd >/dev/null
for kind in fm ffm fwfm; do
	lockstep fm train data.ffm --kind $kind --valid empty -o m.$kind -q
	printf '1\n1 0:3:1\n' | lockstep fm predict m.$kind - | head -1 > one
	cat one one > two
	for data in empty empty.lsd; do lockstep fm predict m.$kind $data | cmp - two && lockstep fm eval m.$kind $data | grep -c . && lockstep fm inspect m.$kind $data | grep -c feature; done
done
