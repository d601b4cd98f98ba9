make() { python3 "$ROOT/tests/tensor/make.py" "$@"; }
mkdir -p a/sub b/sub
make safetensors a/model.safetensors 1 2 3
make safetensors b/model-1.safetensors 1 2 3
echo '{"weight_map": {"w": "model-1.safetensors"}}' >b/model.safetensors.index.json
make npy a/sub/x.npy 1 2
make npy b/sub/x.npy 1 2
make hostile evil-call.pt && cp evil-call.pt a/opt.pt && cp evil-call.pt b/opt.pt
echo one >a/run.log
echo two >b/run.log
ln -s /etc/hostname a/out
ln -s /etc/hostname b/out
ln -s sub/x.npy a/in.npy
ln -s sub/x.npy b/in.npy
echo only >b/extra
lockstep compare a b; echo "exit $?"
rm b/extra
lockstep compare a b --ignore '*.log'; echo "exit $?"
