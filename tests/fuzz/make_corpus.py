"""Writes the seeds under corpus/TARGET/. Python 3.11, standard library only."""

import gzip
import hashlib
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

head = b"age,dose,ill\n"
for name, data in {
    "plain": head + b'40,0.5,no\n-5,2.5,"yes, ""often"""\n',
    "carriage_returns": head.replace(b"\n", b"\r\n") + b"40,0.5,no\r\n",
    "only_header": head,
    "nothing": b"",
    "other_order": b"dose,age,ill\n0.5,40,no\n",
    "mark": b"\xef\xbb\xbf" + head + b"40,0.5,no\n",
    "ragged": head + b"40,0.5\n",
    "too_wide": head + b"40,0.5,no,no\n",
    "beyond_bounds": head + b"121,0.5,no\n",
    "not_a_number": head + b"40,NaN,no\n",
    "infinite": head + b"40,inf,no\n",
    "fraction": head + b"40.5,0.5,no\n",
    "exponent": head + b"4e1,5e-1,no\n",
    "hexadecimal": head + b"0x10,0.5,no\n",
    "subnormal": head + b"0,4.9e-324,no\n",
    "minus_zero": head + b"-0,-0.0,no\n",
    "new_category": head + b"40,0.5,maybe\n",
    "blank_lines": head + b"\n\n40,0.5,no\n\n",
    "open_quote": head + b'40,0.5,"no\n',
    "not_utf8": head + b"40,0.5,\xff\n",
    "control": head + b"40,0.5,\x1b[31m\n",
    "huge_cell": head + b"1" * 70_000 + b",0.5,no\n",
    "many_rows": head + b"1,1,no\n" * 6_000,
}.items():
    seed("table", name, data)


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


packed = gzip.compress(b"1,2\n3,4\n", mtime=0)
for name, data in {
    "plain": packed,
    "two_members": packed + packed,
    "zeros_after": packed + bytes(9),
    "trailing": packed + b"?",
    "cut_header": packed[:7],
    "cut_data": packed[:14],
    "cut_checksum": packed[:-3],
    "wrong_checksum": packed[:-8] + b"\0\0\0\0" + packed[-4:],
    "wrong_length": packed[:-1] + b"\x7f",
    "other_method": packed[:2] + b"\x07" + packed[3:],
    "endless_name": b"\x1f\x8b\x08\x08" + bytes(6) + b"a" * 400,
    "bomb": gzip.compress(bytes(300_000), mtime=0),
    "not_packed": b"1,2\n",
    "nothing": b"",
}.items():
    seed("gzip", name, data)


def idx(shape=(2, 3), data=bytes(range(6)), code=8):
    return struct.pack(f">BBBB{len(shape)}I", 0, 0, code, len(shape), *shape) + data


for name, data in {
    "plain": idx(),
    "images": idx((2, 2, 2), bytes(8)),
    "labels": idx((4,), b"\0\1\2\3"),
    "packed": gzip.compress(idx(), mtime=0),
    "packed_cut": gzip.compress(idx(), mtime=0)[:-6],
    "packed_bomb": gzip.compress(idx((300, 1000), bytes(300_000)), mtime=0),
    "floats": idx((1,), bytes(4), 0x0D),
    "unknown_type": idx((1,), bytes(4), 0x0A),
    "no_axes": idx((), b"\0"),
    "many_axes": idx((1,) * 40, b"\0"),
    "empty_axis": idx((2, 0), b""),
    "absurd_axis": idx((0xFFFFFFFF,)),
    "overflowing_axes": idx((0xFFFFFFFF,) * 3),
    "cut_header": idx()[:9],
    "cut_data": idx()[:-1],
    "trailing": idx() + b"\0",
    "little_endian": b"\0\0\x08\1\6\0\0\0" + bytes(6),
    "other_start": b"\x89PNG\r\n\x1a\n",
    "nothing": b"",
}.items():
    seed("idx", name, data)

record = b"\1" + bytes(3072)
for name, data in {
    "plain": gzip.compress(record + b"\0" + bytes(3072), mtime=0),
    "cut": gzip.compress(record[:-1], mtime=0),
    "two_labels": gzip.compress((b"\1" + record) * 2, mtime=0),
    "wrong_label": gzip.compress(record + b"\x0a" + bytes(3072), mtime=0),
    "many": gzip.compress(record * 9, mtime=0),
    "archive": gzip.compress(b"data_batch_1.bin".ljust(257, b"\0") + b"ustar".ljust(255, b"\0"), mtime=0),
    "pickle": b"\x80\x02}q\x01(U\x04data",
    "nothing": b"",
}.items():
    seed("cifar10", name, data)


def plan(**changes):
    # Floats that Python and Rust print alike.
    mechanism = {
        "noise_multiplier": 1.5,
        "steps_per_epoch": 3,
        "epochs": 1,
        "sampler": "shuffle",
        "threat_model": "worst-case",
        "batch_size": None,
    }
    known = {
        "mechanism": mechanism,
        "observations": 8,
        "delta": 0.25,
        "significance": 0.0625,
        "threshold_rule": "simultaneous",
        "cuts": 16,
        "seed": "7",
    }
    mechanism.update({k: v for k, v in changes.items() if k in mechanism})
    known.update({k: v for k, v in changes.items() if k not in mechanism})
    return known


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def artefact(of=None, sealed=True, **changes):
    of = of or plan()
    document = {
        "schema": "dpscope.histograms/1",
        "version": "0.1.0",
        "plan": of,
        "plan_hash": digest(compact(of)),
        "layout": {
            "bins": {"unit": 0.0078125, "origin": -128, "shift": 7, "bins": 4},
            "thresholds": [-0.5, 0.5],
        },
        "range": {"first": 0, "end": 4},
        "counted": [{"first": 0, "end": 3}],
        "histograms": {
            "target": [[0, 1, 1, 0], [0, 0, 0, 1]],
            "zero_out": [[1, 1, 0, 0], [0, 1, 0, 0]],
        },
        "devices": ["cpu (sse2, 1 thread)"],
        "float_modes": ["exact"],
        "fallback_shards": 0,
        "sampling_ms": 0.5,
        "checksum": "",
    }
    document.update(changes)
    if sealed:
        document["checksum"] = digest(compact(document))
    return compact(document).encode()


none = [[0, 0, 0, 0], [0, 0, 0, 0]]
most = (1 << 64) - 1
whole = artefact()
for name, data in {
    "plain": whole,
    "nothing_counted": artefact(counted=[], histograms={"target": none, "zero_out": none}),
    "gaps": artefact(counted=[{"first": 0, "end": 1}, {"first": 2, "end": 4}]),
    "shard": artefact(range={"first": 0, "end": 3}),
    "fast": artefact(float_modes=["exact", "fast"]),
    "other_version": artefact(version="99.0.0"),
    "split": artefact(plan(threshold_rule="split")),
    "uncorrected": artefact(plan(threshold_rule="max-uncorrected")),
    "no_thresholds": artefact(layout={"bins": {"unit": 0.0078125, "origin": -128, "shift": 7, "bins": 4}, "thresholds": []}),
    "unsealed": artefact(sealed=False),
    "cut": whole[:-40],
    "trailing": whole + b"\n",
    "pretty": json.dumps(json.loads(whole), indent=1).encode(),
    "edited": whole.replace(b"[0,1,1,0]", b"[0,2,0,0]"),
    "schema": artefact(schema="dpscope.histograms/9"),
    "escape": artefact(schema="\x1b[2J\u202e"),
    "unknown_field": artefact(surprise=1),
    "escape_field": artefact(**{"\x1b[2J\x07": 1}),
    "no_schema": b'{"version":"0.1.0"}',
    "twice": whole[:-1] + b',"schema":"dpscope.histograms/1"}',
    "foreign_hash": artefact(plan_hash="0" * 64),
    "odd_observations": artefact(plan(observations=7)),
    "absurd_steps": artefact(plan(steps_per_epoch=4294967295)),
    "undefined_pair": artefact(plan(sampler="poisson")),
    "seed_number": artefact(plan(seed=7)),
    "overflowing_counts": artefact(
        histograms={"target": [[most, most, 0, 0], [0, 0, 0, 0]], "zero_out": none}
    ),
    "negative_count": artefact(histograms={"target": [[-1, 4, 0, 0], none[0]], "zero_out": none}),
    "missing_bins": artefact(histograms={"target": [[3], [0]], "zero_out": [[3], [0]]}),
    "fewer_counts": artefact(counted=[{"first": 0, "end": 2}]),
    "before_range": artefact(range={"first": 1, "end": 4}),
    "beyond_range": artefact(range={"first": 0, "end": 2}),
    "beyond_plan": artefact(range={"first": 0, "end": most}),
    "backwards": artefact(range={"first": 4, "end": 0}),
    "overlap": artefact(counted=[{"first": 0, "end": 2}, {"first": 1, "end": 2}]),
    "touching": artefact(counted=[{"first": 0, "end": 1}, {"first": 1, "end": 3}]),
    "backwards_counted": artefact(counted=[{"first": 3, "end": 0}]),
    "absurd_bins": artefact(layout={"bins": {"unit": 0.5, "origin": 0, "shift": 7, "bins": 4294967295}, "thresholds": [0.5]}),
    "absurd_origin": artefact(layout={"bins": {"unit": 0.5, "origin": -(1 << 63), "shift": 40, "bins": 4}, "thresholds": [0.5]}),
    "zero_unit": artefact(layout={"bins": {"unit": 0.0, "origin": 0, "shift": 7, "bins": 4}, "thresholds": [0.5]}),
    "infinite_threshold": whole.replace(b"[-0.5,0.5]", b"[-0.5,1e999]"),
    "negative_time": artefact(sampling_ms=-0.5),
    "deep": b'{"schema":' + b"[" * 5000,
    "list": b"[1,2]",
    "text": b"remember the milk\n",
    "bytes": b"\xff\x00\x1b[2J",
    "empty": b"",
}.items():
    seed("artefact", name, data)

for name, data in {
    "plain": compact(plan()),
    "epochs": compact(plan(epochs=1000, steps_per_epoch=100000)),
    "poisson": compact(plan(sampler="poisson", threat_model="target-canary")),
    "buffer": compact(plan(sampler={"sliding-buffer": {"buffer_examples": 9}}, batch_size=4)),
    "whole_buffer": compact(plan(sampler={"partial-shuffle": {"buffer_examples": 12}}, batch_size=4)),
    "large_buffer": compact(plan(sampler={"partial-shuffle": {"buffer_examples": most}}, batch_size=4294967295)),
    "no_buffer": compact(plan(sampler="sliding-buffer", batch_size=4)),
    "no_batch": compact(plan(sampler="batch-then-shuffle")),
    "empty_batch": compact(plan(batch_size=0)),
    "undefined_pair": compact(plan(sampler="balls-in-bins")),
    "most_observations": compact(plan(observations=1 << 53)),
    "no_observations": compact(plan(observations=0)),
    "odd_observations": compact(plan(observations=3)),
    "absurd_observations": compact(plan(observations=most)),
    "zero_delta": compact(plan(delta=0)),
    "whole_delta": compact(plan(delta=1)),
    "smallest_delta": compact(plan(delta=5e-324)),
    "negative_significance": compact(plan(significance=-0.5)),
    "no_cuts": compact(plan(cuts=0)),
    "fixed": compact(plan(threshold_rule="fixed")),
    "large_seed": compact(plan(seed=str(1 << 53))),
    "seed_word": compact(plan(seed="\x1b[2J")),
    "infinite_noise": compact(plan()).replace("1.5", "1e999"),
    "little_noise": compact(plan(noise_multiplier=0.1)),
    "nothing": "{}",
}.items():
    seed("plan", name, data.encode())


def event(name, **fields):
    return {"type": name, **fields}


noisy = event("GaussianDpEvent", noise_multiplier=1.1)
sampled = event("PoissonSampledDpEvent", sampling_probability=0.01, event=noisy)
repeated = event("SelfComposedDpEvent", event=sampled, count=1000)
named = {"module_name": "dp_accounting.dp_event", "class_name": "NoOpDpEvent"}
deep = noisy
for _ in range(40):
    deep = event("ComposedDpEvent", events=[deep])
flower = """strategy = "DifferentialPrivacyServerSideFixedClipping"
noise_multiplier = 1.1
clipping_norm = 0.5
num_sampled_clients = 50
num_clients = 1000
num_server_rounds = 200
"""
project = """[project]
name = "app"
[tool.flwr.app.config]
noise-multiplier = 1.1
num-sampled-clients = 50
initial-clipping-norm = 0.1
"""

for name, data in {
    "gaussian": json.dumps(noisy),
    "sampled": json.dumps(sampled),
    "repeated": json.dumps(repeated),
    "composed": json.dumps(event("ComposedDpEvent", events=[repeated, noisy, named])),
    "joint": json.dumps(event("PoissonSampledDpEvent", sampling_probability=0.1,
                              event=event("ComposedDpEvent", events=[noisy, noisy]))),
    "sampled_twice": json.dumps(event("PoissonSampledDpEvent", sampling_probability=0.1, event=sampled)),
    "deep": json.dumps(deep),
    "too_deep": "[" * 200 + "]" * 200,
    "laplace": json.dumps(event("LaplaceDpEvent", noise_multiplier=1)),
    "own_event": json.dumps(event("\x1b[2J")),
    "no_type": json.dumps({"events": []}),
    "no_noise": json.dumps(event("GaussianDpEvent", noise_multiplier=0)),
    "tiny_noise": json.dumps(event("SelfComposedDpEvent", count=9,
                                   event=event("GaussianDpEvent", noise_multiplier=5e-324))),
    "huge_noise": json.dumps(event("PoissonSampledDpEvent", sampling_probability=0.1, event=event(
        "SelfComposedDpEvent", count=9, event=event("GaussianDpEvent", noise_multiplier=1e300)))),
    "absurd_count": json.dumps(event("SelfComposedDpEvent", count=1 << 63, event=repeated)),
    "overflowing_count": json.dumps(event("SelfComposedDpEvent", count=10**9, event=repeated)),
    "negative_rate": json.dumps(event("PoissonSampledDpEvent", sampling_probability=-1, event=noisy)),
    "not_a_number": '{"type": "GaussianDpEvent", "noise_multiplier": NaN}',
    "repeated_key": '{"type": "GaussianDpEvent", "noise_multiplier": 1, "noise_multiplier": 2}',
    "history": "[[1.1, 0.01, 500], [1.0, 0.02, 10]]",
    "state": json.dumps({"history": [[1.1, 0.01, 500]], "mechanism": "rdp"}),
    "short_entry": "[[1.1, 0.01]]",
    "text_steps": '[[1.1, 0.01, "9"]]',
    "no_history": "[]",
    "mark": "\ufeff[[1.1, 0.01, 500]]",
    "flower": flower,
    "adaptive": flower.replace("Fixed", "Adaptive").replace("clipping_norm", "initial_clipping_norm"),
    "few_clients": flower.replace("= 1000", "= 10"),
    "project": project,
    "both_spellings": project + "noise_multiplier = 2.0\n",
    "infinite_noise": flower.replace("1.1", "inf"),
    "date": "noise_multiplier = 1979-05-27\n",
    "brackets": "[" * 5000,
    "nothing": "",
}.items():
    seed("accountant", name, data.encode())
