# LD_LIBRARY_PATH leads to another cuDNN than the one that torch brought.
. "$ROOT/tests/fake/machine.sh"
machine kaggle
put /opt/cudnn/lib/libcudnn.so.8.6.0 x
ln -s libcudnn.so.8.6.0 "$root/opt/cudnn/lib/libcudnn.so.8"
variables+=(LD_LIBRARY_PATH=/nowhere:/opt/cudnn/lib)
doctor -v | grep -e '^lib.cudnn' -e '^bundled.cudnn' -e '^cudnn' -e 'shadowed' -A2
