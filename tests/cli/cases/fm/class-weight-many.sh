# weights of 100 classes are those of their rows, in the text's own column: the same
# parameters; a checkpoint has them all
plain="--epochs 1 --batch 1024 --l2 0" # whatever the defaults are
awk 'BEGIN { for (i = 0; i < 600; i++) { c = i * 37 % 100; w = (c % 7 + 1) / 2; f = " " i % 11 ":1 " 11 + i % 13 ":1 " 24 + c % 9 ":1"
	print c f >"plain.svm"; print c, w f >"weighted.svm" } }'
weights=$(seq 0 99 | awk '{ printf "%s%g", (NR > 1 ? "," : ""), ($1 % 7 + 1) / 2 }')
lockstep fm train $plain weighted.svm --task multiclass -o by-row -q
lockstep fm train $plain plain.svm --task multiclass --class-weight "$weights" --checkpoint ckpt -o by-class -q
lockstep compare by-row by-class --ignore data_digest --ignore options --ignore checksum; echo "status $?"
lockstep fm train $plain plain.svm --task multiclass --class-weight "$weights" --checkpoint ckpt --resume --epochs 2 -o more -q; echo "status $?"
lockstep fm train $plain plain.svm --task multiclass --class-weight "$weights,1" -o no -q; echo "status $?"
lockstep fm train $plain plain.svm --task multiclass --class-weight "${weights/1,/1.000000000000000000000000000000000000x,}" -o no -q; echo "status $?"
