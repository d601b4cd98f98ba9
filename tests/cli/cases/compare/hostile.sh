# each is refused with a reason, and nothing in it is run; in folders the reason stands
# beside the comparison by byte
files=(evil-call.pt cyclic.pt deep.pt laughs.pt claim.pt stretch.pt outside.pt offset.pt memo.pt length.pt inst.pt cut.pt
	script.pt traversal.npz absolute.npz object.npz claim.npz claim.safetensors header.safetensors length.onnx)
mkdir a b
(cd a && python3 "$ROOT/tests/tensor/make.py" hostile "${files[@]}")
cp a/* b
lockstep compare a b
lockstep compare a/evil-call.pt b/evil-call.pt 2>&1 && exit 9
find . -name pwned -exec echo "IT WAS RUN" ';'
