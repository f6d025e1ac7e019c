"""Loaders are recognised by their batches, without loading a record."""

import itertools

import numpy as np
import pytest

import dpscope

N = 120


class Dataset:
    def __len__(self):
        return N

    def __getitem__(self, record):
        raise AssertionError("a record was loaded")


class Loader:
    """A loader whose batches are those of `draw` in each epoch, from a generator and a first order."""

    def __init__(self, draw, seed=1):
        self.dataset = Dataset()
        self.batch_sampler = self
        self.draw = draw
        self.random = np.random.default_rng(seed)
        self.first = self.random.permutation(N)

    def __iter__(self):
        return iter(self.draw(self.random, self.first))


def cut(order, size=12):
    return [order[start : start + size].tolist() for start in range(0, len(order), size)]


def shuffle(random, first):
    return cut(random.permutation(N))


def poisson(random, first, rates=0.1):
    return [np.flatnonzero(random.random(N) < rates).tolist() for _ in range(10)]


def bins(random, first):
    places = random.integers(10, size=N)
    return [np.flatnonzero(places == place).tolist() for place in range(10)]


def buffered(random, first):
    held, order = list(range(int(0.9 * N))), []
    for record in [*range(len(held), N), *[None] * len(held)]:
        place = random.integers(len(held))
        order.append(held[place])
        if record is None:
            held.pop(place)
        else:
            held[place] = record
    return cut(np.array(order))


def chunks(random, first):
    return cut(np.arange(N).reshape(-1, 4)[random.permutation(N // 4)].ravel())


def padded(random, first):
    order = random.permutation(N)
    return cut(np.append(order, order[:5]), 25)


LOADERS = {
    "shuffle": shuffle,
    "poisson": poisson,
    "balls-in-bins": bins,
    "fixed-size": lambda random, first: [random.permutation(N)[:12] for _ in range(10)],
    "with-replacement": lambda random, first: random.integers(N, size=(10, 12)),
    "partial-shuffle": buffered,
    "chunks": chunks,
    "batch-then-shuffle": lambda random, first: random.permutation(first.reshape(10, 12)).tolist(),
    "padded-shuffle": padded,
    "unequal-rates": lambda random, first: poisson(
        random, first, np.where(np.arange(N) % 4, 0.05, 0.25)
    ),
    "deterministic": lambda random, first: cut(first),
}


@pytest.mark.parametrize("name", LOADERS)
def test_samplers_get_their_names(name):
    found = dpscope.check_loader(Loader(LOADERS[name]))
    assert found.sampler["name"] == name and str(found).startswith(
        f"{name}: {found.headline}\nfacts: "
    )
    assert found.facts["dataset_size"] == N and found.facts["epochs"] == 20
    level = 1e-3 / len(found.tests)
    assert all(test["significance"] == level and 0 <= test["p"] <= 1 for test in found.tests)
    is_assumed = name in ("shuffle", "poisson", "balls-in-bins", "fixed-size")
    assert [finding["code"] for finding in found.findings] == ([] if is_assumed else [name])
    assert found.evidence == "not-rejected" or not is_assumed


def test_a_buffer_is_passed_to_the_check():
    found = dpscope.check_loader(Loader(buffered))
    assert 100 < found.sampler["least_buffer"] <= 108 and found.loader == "sliding-buffer"
    checked = found.check(epochs=3, noise_multiplier=1, claim=1, delta=1e-5, accountant="poisson")
    assert "buffer-below-data" in {finding["code"] for finding in checked.findings}


def test_shuffles_refute_the_claim_of_poisson_batches():
    found = dpscope.check_loader(Loader(shuffle))
    options = dict(epochs=20, noise_multiplier=0.8, delta=1e-5, accountant="poisson")
    assert found.check(**options, claim=1).verdict().outcome == "refuted"
    other = dpscope.check_loader(Loader(padded))
    assert other.loader is None
    with pytest.raises(dpscope.DpscopeError, match="no accountant .*padded-shuffle.*pass loader"):
        other.check(**options, claim=1)


def test_functions_are_called_twice():
    def codes(make):
        return [finding["code"] for finding in dpscope.check_loader(make, epochs=4).findings]

    seeds = iter(range(10))
    assert codes(lambda: Loader(shuffle)) == ["fixed-seed"]
    assert codes(lambda: Loader(shuffle, next(seeds))) == []
    same = LOADERS["deterministic"]
    assert codes(lambda: Loader(same)) == ["deterministic"]
    assert codes(lambda: Loader(same, next(seeds))) == ["persistent-shuffle"]
    loader = Loader(shuffle)
    with pytest.raises(dpscope.DpscopeError, match="one loader twice"):
        dpscope.check_loader(lambda: loader)


def test_batches_may_be_mapped_to_records():
    class Batches:
        random = np.random.default_rng(2)

        def __iter__(self):
            return ({"id": batch} for batch in shuffle(self.random, None))

    found = dpscope.check_loader(Batches(), records=lambda batch: batch["id"], dataset_size=N + 5)
    assert found.sampler["name"] == "shuffle"
    assert [finding["code"] for finding in found.findings] == ["never-drawn"]


def test_the_stated_rate_is_compared():
    assert dpscope.check_loader(Loader(poisson), rate=0.1).findings == []
    found = dpscope.check_loader(Loader(poisson), rate=0.2)
    assert [finding["code"] for finding in found.findings] == ["rate-differs"]
    with pytest.raises(dpscope.DpscopeError, match="rate is 1.5; it must be"):
        dpscope.check_loader(Loader(poisson), rate=1.5)


def test_bad_loaders_name_the_remedy():
    class IterableDataset:
        pass

    def refused(match, loader, **options):
        with pytest.raises(dpscope.DpscopeError, match=match):
            dpscope.check_loader(loader, **options)

    loader = Loader(shuffle)
    loader.dataset = IterableDataset()
    refused("IterableDataset.*pass records", loader)
    loader = Loader(shuffle)
    loader.batch_sampler = None
    refused(r"batch_size=None.*pass batch_size", loader)
    loader.batch_sampler = iter(shuffle(np.random.default_rng(1), None))
    refused("does not start again in each epoch", loader)
    stored = iter(shuffle(np.random.default_rng(1), None))
    refused("epoch 2 has no batches; .*pass a function", Loader(lambda random, first: stored))
    refused("no batch_sampler; pass records", [[0, 1], [2, 3]])
    refused("pass dataset_size", [[0, 1]], records=lambda batch: batch)
    refused("dataset_size is 1", [[0, 1]], records=lambda batch: batch, dataset_size=1)
    refused("epochs is 1; draw at least 2", Loader(shuffle), epochs=1)
    refused("no end after", Loader(lambda random, first: itertools.repeat(first[:10])))
    refused("batch 1 of epoch 1 contains record 120; .*0 to 119", Loader(lambda *_: [[N]]))
    refused("batch 2 of epoch 1 contains record -1", Loader(lambda *_: [[0], [3, -1]]))
    refused(r"batch 1 of epoch 1 .*shape \(1, 2\).*pass records", Loader(lambda *_: [[[0, 1]]]))
    refused("float64; expected a list of record numbers", Loader(lambda *_: [[0.5]]))
    refused("no batch contains a record", Loader(lambda *_: [[], []]))
    with pytest.raises(TypeError):
        dpscope.check_loader(Loader(shuffle), epochs=2.5)


def test_errors_and_interrupts_of_the_loader_arrive():
    def interrupted(random, first):
        yield first
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dpscope.check_loader(Loader(interrupted))
