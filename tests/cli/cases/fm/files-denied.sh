# a place that may not be written to is no mistake of the command line: status 4, and
# nothing is touched
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cp $BUILD/lockstep $ROOT/tests/data/small.svm $place
cd $place && mkdir mine link
${LS_EMULATOR:-} ./lockstep fm train small.svm -o model -q
ln -s ../link/out mine/out
chmod 755 . && chmod 644 model && chmod 555 mine && chmod 777 link
as_nobody() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi; }
as_nobody ./lockstep --version >/dev/null 2>&1 || as_nobody $LS_EMULATOR ./lockstep --version >/dev/null || { echo "nobody else can run a program in $place" >&2; exit 77; }
for words in "train small.svm -q -o mine/x" "train small.svm -q -o /dev/null --log mine/x" "train small.svm -q -o /dev/null --checkpoint mine/x" "predict model small.svm -o mine/x" "convert small.svm -o mine/x"; do
	# shellcheck disable=SC2086
	as_nobody ${LS_EMULATOR:-} ./lockstep fm $words
	echo "status $?" >&2
done
ls mine
# a link in such a folder to one that may be
for words in "train small.svm -q -o mine/out" "convert small.svm -o mine/out"; do
	# shellcheck disable=SC2086
	as_nobody ${LS_EMULATOR:-} ./lockstep fm $words >/dev/null && ls link && rm -f link/out
done
# what is replaced keeps its mode, and its owner and group where that may be
if [ "$(id -u)" = 0 ]; then chown 12345:12345 model; fi
owner=$(stat -c %u:%g model)
chmod 640 model
./lockstep fm train small.svm -q -o model 2>/dev/null || ${LS_EMULATOR:-} ./lockstep fm train small.svm -q -o model
[ "$(stat -c '%u:%g %a' model)" = "$owner 640" ] && echo kept
# what cannot be replaced is found out before the training, not after it
mkdir sticky && cp model sticky/m && chmod 644 sticky/m && chmod 1777 sticky
if [ "$(id -u)" != 0 ]; then echo "only root has files of others at hand" >&2; exit 77; fi
for words in "train small.svm -o sticky/m --epochs 1000000" "train small.svm -o sticky/x --checkpoint sticky/m" "predict model small.svm -o sticky/m" "convert small.svm -o sticky/m"; do
	# shellcheck disable=SC2086
	as_nobody ${LS_EMULATOR:-} ./lockstep fm $words
	echo "status $?" >&2
done
cmp model sticky/m && ls sticky
