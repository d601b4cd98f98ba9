# Bad input, or a place that cannot be written to: what is wrong is named, the status is
# 2, nothing is left behind.
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
# what gzip holds is text, or told as what it is
python3 -c '
import gzip, os, sys
d, text = sys.argv[1], b"1 1:1\n"
def put(name, data): open(name, "wb").write(gzip.compress(data, mtime=0))
put("npz.gz", open(d + "/small-valid.npz", "rb").read())
put("lsd.gz", open("good.lsd", "rb").read())
put("twice.gz", gzip.compress(text))
put("xz.gz", b"\xfd7zXZ\0 more")
put("npy.gz", b"\x93NUMPY\1\0")
put("model.gz", b"\x20\0\0\0\0\0\0\0{")
open("cut.gz", "wb").write(open("npz.gz", "rb").read()[:900])
' "$d"
for name in npz lsd twice xz npy model cut; do
	no lockstep fm convert $name.gz -o out.lsd
	no lockstep fm convert - -o out.lsd <$name.gz
done
