# an .npz or .npy that is damaged or not what it should be: a sentence with the file's
# name, status 2, nothing written
python3 - <<'P'
import struct, zipfile
def npy(kind, shape, data):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data
def vector(kind, letter, values):
    return npy(kind, f"({len(values)},)", struct.pack(f"<{len(values)}{letter}", *values))
def npz(name, starts, columns, values, column="<i4 i", value="<f4 f"):
    # deflated, but at level 0: whatever zlib this is, the bytes lie where they are
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED, compresslevel=0) as z:
        z.writestr("indptr.npy", vector("<i4", "i", starts))
        z.writestr("indices.npy", vector(*column.split(), columns))
        z.writestr("format.npy", npy("|S3", "()", b"csr"))
        z.writestr("shape.npy", vector("<i8", "q", [len(starts) - 1, 9]))
        z.writestr("data.npy", vector(*value.split(), values))
def flip(name, to, at):
    data = bytearray(open(name, "rb").read())
    data[data.index(b"data.npy") + at] ^= 8
    open(to, "wb").write(data)
def put(name, data):
    open(name, "wb").write(data)
npz("two.npz", [0, 2, 3], [1, 2, 3], [1, 2, 0.5])
npz("large.npz", [0, 30000], [1] * 30000, [1.5] * 30000)
npz("none.npz", [0], [], [])
npz("half.npz", [0, 1], [1], [1], value="<f2 e")
npz("huge.npz", [0, 1], [1 << 63], [1], column="<u8 Q")
npz("wide.npz", [0, 1], [9], [1])
flip("two.npz", "early.npz", 60)
flip("large.npz", "late.npz", 90000) # behind what is read to learn the shape
put("nothing.npz", b"PK\5\6" + bytes(18))
put("labels.npy", vector("<i8", "q", [1, 0]))
put("one.npy", vector("<i8", "q", [1]))
put("pairs.npy", npy("<f4", "(2, 2)", bytes(16)))
put("half.npy", npy("<f2", "(2,)", bytes(4)))
put("nan.npy", vector("<f8", "d", [1, float("nan")]))
put("less.npy", vector("|i1", "b", [1, -1]))
put("three.svm", b"1 1 1:1\n0 3 2:1\n")
P
no() { lockstep fm convert "$@" -o out.lsd >report; echo "status $?"; }
no early.npz --labels labels.npy
no late.npz --labels one.npy
no nothing.npz
no none.npz
no half.npz --labels one.npy
no huge.npz --labels one.npy
no wide.npz --labels one.npy
no two.npz --labels one.npy
no two.npz --labels pairs.npy
no two.npz --labels half.npy
no two.npz --labels nan.npy
no two.npz --labels labels.npy --weights nan.npy
no two.npz --labels labels.npy --weights less.npy
no three.svm --weights labels.npy
[ -e out.lsd ] || echo nothing written
no two.npz --labels less.npy --weights labels.npy
