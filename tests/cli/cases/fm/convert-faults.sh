# Bad input, or a place that cannot be written to: what is wrong is named, the status is 2, nothing is left behind.
d=$ROOT/tests/data
no() { "$@" >/dev/null; echo "status $?" >&2; }
printf '1 3:1\n\n# note\n0 7:1 -2:1\n' >negative.svm
no lockstep fm convert negative.svm -o out.lsd
printf '1 3:1\n0 7:nan\n' | no lockstep fm convert - -o out.lsd
printf '1 3:1\0\n' | no lockstep fm convert - -o out.lsd
printf '1 1:3:1\n' | no lockstep fm convert - --format svm -o out.lsd
gzip -c "$d/small-valid.svm" | head -c 900 >cut.gz
no lockstep fm convert cut.gz -o out.lsd
lockstep fm convert "$d/small-valid.svm" -o good.lsd >/dev/null
head -c 9000 good.lsd >cut.lsd
no lockstep fm convert cut.lsd -o out.lsd
cp good.lsd flipped.lsd
printf x | dd of=flipped.lsd bs=1 seek=10000 conv=notrunc status=none
no lockstep fm convert flipped.lsd -o out.lsd
no lockstep fm convert - -o out.lsd <good.lsd
no lockstep fm convert "$d/small-valid.npz" --labels "$d/wide-labels.npy" -o out.lsd
no lockstep fm convert "$d/small-valid.svm" --labels "$d/small-valid-labels.npy" -o out.lsd
no lockstep fm convert missing.svm -o out.lsd
no lockstep fm convert negative.svm
no lockstep fm convert "$d/small-valid.svm" -o out.lsd --threads 0
no lockstep fm convert "$d/small-valid.svm" -o no/such/folder/out.lsd
ls
for magic in '\375\067zXZ\0' '\050\265\057\375' 'BZh9'; do
	printf "$magic more" >packed
	lockstep fm convert packed -o x; echo "status $?" >&2
	lockstep fm convert - -o x <packed; echo "status $?" >&2
done
