# data that are written to during a training: no model comes of them, and no checkpoint;
# the same rows at another time do no harm
D=$ROOT/tests/data
lockstep fm convert $D/small.ffm -o kept >/dev/null
lockstep fm convert $D/small-valid.ffm -o kept-valid >/dev/null
lockstep fm train kept --batch 2 --epochs 32 --lr 1e-30 -q -o m
lockstep fm digest m | cut -d ' ' -f 1 >want
mkfifo log
exec 3<>log
# With the least that a pipe holds, training waits for its log before the next epoch ends,
# and so before the next checkpoint.
python3 -c 'import fcntl; fcntl.fcntl(3, 1031, 4096)'
renew() { # of another time than what is written next
	rm -f tr.lsd va.lsd m c
	cp kept tr.lsd
	cp kept-valid va.lsd
	touch -d 2000-01-01 tr.lsd va.lsd
}
way=(--batch 2)
begin() { # begin OPTION…: until its first epoch is done
	renew
	lockstep fm train tr.lsd "${way[@]}" --epochs 32 --lr 1e-30 --log log --log-every 1 -q -o m "$@" >out 2>err 3>&- &
	pid=$!
	while read -r -t 300 line <&3 && [[ $line != *'"event":"epoch"'* ]]; do :; done
}
end() { # and to its end
	timeout 600 cat <&3 >/dev/null &
	wait $pid
	echo "status $?: $(sed 's/after step [0-9]*/after some steps/' err) $(ls | tr '\n' ' ')"
	kill %% && wait
}
# where rows begin: by a little, or, at the highest byte of one, far beyond all that is
# there
spoil() { printf '\1' | dd of=$1 bs=1 seek=${2:-5000} conv=notrunc status=none; }
again() { dd if=kept of=tr.lsd conv=notrunc status=none; }
rename() { cp kept-valid n && mv n tr.lsd; }
for change in true "touch tr.lsd" again rename; do
	begin --threads 2
	$change
	end
	lockstep fm digest m | cut -d ' ' -f 1 | cmp - want
done
begin --checkpoint c
for _ in $(seq 3000); do [ -e c ] && break; sleep 0.1; done # which comes behind the epoch's line
rm c
spoil tr.lsd
end
begin --valid va.lsd --early-stop 0
rm m
spoil va.lsd
end
begin
spoil tr.lsd
kill -TERM $pid
end
echo "= whatever else goes wrong with rows that cannot be"
begin --valid va.lsd --early-stop 0 --threads 1
rm m
spoil va.lsd 4503
end
echo "= between the last epoch and its checkpoint, while a full log waits"
renew
dd if=/dev/zero of=log bs=64 oflag=nonblock 2>/dev/null
lockstep fm train tr.lsd "${way[@]}" --epochs 1 --valid va.lsd --log log --checkpoint c -q -o m >out 2>err 3>&- &
pid=$!
for _ in $(seq 3000); do [ -e m ] && break; sleep 0.1; done
sleep 0.3
spoil tr.lsd
end
echo "= by accident into memory that is not there"
begin
kill -SEGV $pid
wait $pid 2>/dev/null && echo none
grep -q -e '^lockstep: ends here' -e AddressSanitizer err && echo told
