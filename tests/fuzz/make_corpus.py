"""Writes the seeds under corpus/TARGET/. Python 3.11, standard library only."""

import io
import json
import pathlib
import struct
import warnings
import zipfile

here = pathlib.Path(__file__).parent / "corpus"


def seed(target, name, data):
    folder = here / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def npy(descr="'<f8'", shape="(2,)", data=bytes(16), order="False", version=1, extra=""):
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}{extra}}}\n".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


plain = npy(data=struct.pack("<2d", 0.5, float("nan")))
for name, data in {
    "plain": plain,
    "version_2": npy(version=2),
    "version_3": npy(version=3),
    "version_9": npy(version=9),
    "big_fortran": npy("'>i2'", "(2, 3, 2)", bytes(range(24)), "True"),
    "half": npy("'<f2'", "(3,)", b"\x00\x3c\x00\x7c\x01\x7e"),
    "bool": npy("'|b1'", "(2, 1)", b"\x00\x01"),
    "scalar": npy("'<u8'", "()", b"\xff" * 8),
    "complex": npy("'<c16'", "(1,)"),
    "object": npy("'|O'", "(1,)", b"\x80\x04N."),
    "fields": npy("[('a', '<f8'), ('b', '<i4', (2,))]", "(1,)"),
    "text": npy("'<U2'", "(2,)"),
    "time": npy("'<M8[ns]'"),
    "longdouble": npy("'<f16'", "(1,)"),
    "empty": npy(shape="(2, 0)", data=b""),
    "absurd_shape": npy(shape="(1000000000000000,)"),
    "overflowing_shape": npy(shape="(4294967296, 4294967296, 4294967296)"),
    "negative_shape": npy(shape="(-2,)"),
    "many_axes": npy(shape="(" + "1, " * 70 + ")"),
    "nested": npy(shape="(" * 500 + ")" * 500),
    "cut_data": plain[:-1],
    "cut_header": plain[:30],
    "trailing": plain + b"\x93",
    "twice": plain + plain,
    "no_dictionary": b"\x93NUMPY\x01\x00\x04\x00spam",
    "huge_header": b"\x93NUMPY\x02\x00\xff\xff\xff\xff{",
    "repeated_key": npy(extra=", 'shape': (1,)"),
    "magic_only": b"\x93NUMPY",
}.items():
    seed("npy", name, data)


def npz(*entries, method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same name twice
        for name, data in entries:
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return file.getvalue()


one = npz(("x.npy", plain))
bomb = npy("'|u1'", "(300000,)", bytes(300_000))
central = one.index(b"PK\x01\x02")


def patched(data, *changes):
    data = bytearray(data)
    for offset, value in changes:
        data[offset] = value
    return bytes(data)


for name, data in {
    "stored": npz(("x.npy", plain), ("note.npy", npy("'<U2'")), ("readme.txt", b"hi")),
    "deflated": npz(("x.npy", plain), method=zipfile.ZIP_DEFLATED),
    "nested_name": npz(("epoch/0.npy", plain)),
    "astray": npz(("../x.npy", plain)),
    "absolute": npz(("/x.npy", plain)),
    "same_name": npz(("x.npy", plain), ("x.npy", plain)),
    "bomb": npz(("x.npy", bomb), method=zipfile.ZIP_DEFLATED),
    "bomb_claims_little": npz(("x.npy", bomb), method=zipfile.ZIP_DEFLATED).replace(
        struct.pack("<I", len(bomb)), struct.pack("<I", 100)
    ),
    "encrypted": patched(one, (6, 1), (central + 8, 1)),
    "other_method": patched(one, (8, 12), (central + 10, 12)),
    "wrong_checksum": patched(one, (central - 1, one[central - 1] ^ 1)),
    "no_arrays": npz(("model/data.pkl", b"\x80\x04N.")),
    "empty": npz(),
    "cut": one[:-10],
}.items():
    seed("npz", name, data)

for name, data in {
    "plain": b"1,2\n3,4\n",
    "header": b"score,member\n0.5,1\n-2e-3,0\n",
    "blanks": b"# fpr fnr\n  1.0   nan\n -inf  2 # last\n\n",
    "semicolons": b"a;b\r\n1;2\r\n",
    "decimal_comma": b"1,5;2\n",
    "tabs": b"\tscore\n0\t1.5\n",
    "quotes": b'"in, out","c""d"\n"1","2"\n',
    "open_quote": b'1,"2\n',
    "ragged": b"1,2\n3\n",
    "text": b"1,2\n3,four\n",
    "empty_cell": b"1,\n",
    "not_utf8": b"1\n\xff\n",
    "mark": b"\xef\xbb\xbf1\n",
    "utf16": "1\n2\n".encode("utf-16"),
    "huge_cell": b"1" * 400 + b"\n",
    "many_columns": b"1," * 80 + b"1\n",
    "only_header": b"a,b\n",
    "nothing": b"",
}.items():
    seed("csv", name, data)


def safetensors(tensors, data, length=None):
    header = (tensors if isinstance(tensors, str) else json.dumps(tensors)).encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def tensor(dtype, shape, start, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


for name, data in {
    "plain": safetensors({"x": tensor("F32", [2], 0, 8)}, bytes(8)),
    "several": safetensors(
        {
            "__metadata__": {"by": "hand"},
            "a": tensor("BF16", [2, 1], 0, 4),
            "b": tensor("I64", [], 4, 12),
            "c": tensor("C64", [1], 12, 20),
        },
        b"\x80\x3f\x80\xff" + b"\xff" * 16,
    ),
    "overlap": safetensors({"a": tensor("U8", [4], 0, 4), "b": tensor("U8", [4], 2, 6)}, bytes(6)),
    "gap": safetensors({"a": tensor("U8", [2], 0, 2), "b": tensor("U8", [2], 4, 6)}, bytes(6)),
    "outside": safetensors({"a": tensor("U8", [9], 0, 9)}, bytes(4)),
    "backwards": safetensors({"a": tensor("U8", [2], 2, 0)}, bytes(2)),
    "overflow": safetensors({"a": tensor("U8", [1 << 40, 1 << 40], 0, 4)}, bytes(4)),
    "negative": safetensors({"a": tensor("U8", [-1], 0, 1)}, bytes(1)),
    "empty": safetensors({"a": tensor("F32", [0], 0, 0)}, b""),
    "no_tensors": safetensors({}, b""),
    "half_byte": safetensors({"a": tensor("F4", [2], 0, 1)}, bytes(1)),
    "same_name": safetensors(
        '{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
        '"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}',
        bytes(2),
    ),
    "deep": safetensors('{"a":' + "[" * 300, b""),
    "long_header": safetensors({}, b"", length=1 << 62),
    "short": b"\x08\x00",
}.items():
    seed("safetensors", name, data)
