"""TensorBoard's event files, written byte by byte. events.py [--tensor] FOLDER
TAG=STEP:VALUE,… … writes FOLDER/events.out.tfevents.1.host events.py --damage CODE FILE
the file as bytes d, changed by CODE, on stdout
"""
import os
import struct
import sys


def masked_crc(data):
    c = 0xFFFFFFFF
    for byte in data:
        c ^= byte
        for _ in range(8):
            c = c >> 1 ^ (0x82F63B78 if c & 1 else 0)
    c ^= 0xFFFFFFFF
    return ((c >> 15 | c << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def head(length):
    size = struct.pack("<Q", length)
    return size + struct.pack("<I", masked_crc(size))


def record(data):
    return head(len(data)) + data + struct.pack("<I", masked_crc(data))


def event(step, tag, value, tensor):
    packed = struct.pack("<f", value)
    if tensor:  # TensorProto: dtype 1 (float), shape, float_val
        value = field(8, b"\x08\x01" + field(2, b"") + field(5, packed))
    else:
        value = varint(2 << 3 | 5) + packed
    time = varint(1 << 3 | 1) + struct.pack("<d", 1.5e9)
    return time + varint(2 << 3) + varint(step) + field(5, field(1, field(1, tag.encode()) + value))


def main(args):
    if args[0] == "--damage":
        d = bytearray(open(args[2], "rb").read())
        exec(args[1], {"d": d, "forged": head})
        sys.stdout.buffer.write(d)
        return
    tensor = args[0] == "--tensor"
    folder, *series = args[tensor:]
    os.makedirs(folder)
    with open(f"{folder}/events.out.tfevents.1.host", "wb") as f:
        f.write(record(varint(1 << 3 | 1) + struct.pack("<d", 1.5e9) + field(3, b"brain.Event:2")))
        for text in series:
            tag, points = text.split("=")
            for point in points.split(","):
                step, value = point.split(":")
                f.write(record(event(int(step), tag, float(value), tensor)))


main(sys.argv[1:])
