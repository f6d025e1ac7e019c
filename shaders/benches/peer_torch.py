"""The job of `peer_numpy.py` in PyTorch float32 on a CUDA GPU, as a yardstick for `dpscope bench`.

Standard normals, the target's entry moved, scores by a centred log-sum-exp, a histogram of the
scores: operation by operation, and fused by `torch.compile`. Prints JSON; the shortest of several
repeats.

    python peer_torch.py --entries 100 --sigma 1

Needs torch==2.11.0.
"""

import argparse
import json

import torch


def scores(rows, entries, shift, sigma):
    """Scores of `rows` observations."""
    x = torch.randn(rows, entries, device="cuda") / sigma
    x[:, 0] += shift / sigma**2
    centre = x.amax(dim=1, keepdim=True)
    terms = torch.exp(x - centre)
    ratio = (terms * terms).sum(dim=1) / terms.sum(dim=1)
    # x holds (x + 2)/sigma^2, so the offset is 1.5 for a mean of -2 elsewhere.
    return centre.squeeze(1) - 1.5 / sigma**2 + torch.log(ratio)


def milliseconds(draw, options, rows):
    """Time of all chunks of both worlds."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for shift in (2.0, 1.0):
        for _ in range(options.chunks):
            drawn = draw(rows, options.entries, shift, options.sigma).clamp(-16, 16)
            counts = torch.histc(drawn, 4096, -16, 16)
    end.record()
    torch.cuda.synchronize()
    assert counts.sum() == rows
    return start.elapsed_time(end)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=100)
    parser.add_argument("--sigma", type=float, default=1.0)
    parser.add_argument("--normals", type=float, default=2e9, help="a chunk")
    parser.add_argument("--chunks", type=int, default=10, help="a repeat and world")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()

    rows = int(options.normals / options.entries)
    for name, draw in {"eager": scores, "compiled": torch.compile(scores)}.items():
        times = [milliseconds(draw, options, rows) for _ in range(1 + options.repeats)]
        observations = 2 * options.chunks * rows / (min(times[1:]) / 1000)
        print(
            json.dumps(
                {
                    "program": f"torch, {name}",
                    "version": torch.__version__,
                    "device": torch.cuda.get_device_name(),
                    "entries": options.entries,
                    "noise_multiplier": options.sigma,
                    "normals_per_second": observations * options.entries,
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
