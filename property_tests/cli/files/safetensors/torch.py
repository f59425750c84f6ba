# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""The two functions of safetensors.torch that docs/files.md uses, for a Python without packages: a
tensor is (dtype, shape, flat list of numbers)."""
import json
import struct

FORMATS = {"F64": ("d", 8), "F32": ("f", 4), "I64": ("q", 8)}


def load_file(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        code, size = FORMATS[entry["dtype"]]
        begin, end = entry["data_offsets"]
        values = struct.unpack(f"<{(end - begin) // size}{code}", data[begin:end])
        tensors[name] = (entry["dtype"], entry["shape"], list(values))
    return tensors


def save_file(tensors, path):
    header, data = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        packed = struct.pack(f"<{len(values)}{FORMATS[dtype][0]}", *values)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
