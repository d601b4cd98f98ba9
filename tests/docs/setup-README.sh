# what the commands of README's table work on
awk 'BEGIN { for (i = 0; i < 64; i++) printf "%d %d:1 %d:1 %d:0.5\n", i % 2, 1 + i % 7, 8 + i % 5, 13 + i % 3 }' >train.svm
head -n 16 train.svm >valid.svm
sed -E 's/ ([0-9]+):/ 0:\1:/g' train.svm | gzip >train.ffm.gz
echo 'print("trained")' >train.py
mkdir -p run1 run2
printf 'one\n' | tee run1/a >run2/a
for r in a b; do lockstep run --out runs/$r -- true; done
lockstep spec capture -o new.json
