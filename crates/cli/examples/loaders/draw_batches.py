"""Draws batches from the loaders of a library and prints them as JSON.

    python draw_batches.py torch|opacus|jax_privacy|grain|webdataset|tensorflow

Shows what a loader really does: for 10 records in batches of 3, the record numbers of each batch of
many epochs. `dpscope check --list-loaders` says what the documentation promises. Written for torch
2.15, opacus 1.6, jax-privacy 2.0, grain 0.2.18, webdataset 1.0 and tensorflow 2.21.
"""

import json
import sys

RECORDS, BATCH, EPOCHS = 10, 3, 600
FEWER = 80  # where a draw takes milliseconds
STEPS = -(-RECORDS // BATCH)  # batches per epoch


def chunks(records, size=BATCH):
    records = [int(record) for record in records]
    return [records[at : at + size] for at in range(0, len(records), size)]


def torch_loaders():
    import torch
    from torch.utils.data import DataLoader, RandomSampler, SubsetRandomSampler

    torch.manual_seed(1)
    data = torch.arange(RECORDS)

    def epochs(**options):
        loader = DataLoader(data, batch_size=BATCH, **options)
        return [[batch.tolist() for batch in loader] for _ in range(EPOCHS)]

    def distributed(epoch):
        from torch.utils.data.distributed import DistributedSampler

        samplers = [
            DistributedSampler(data, num_replicas=3, rank=rank, drop_last=True) for rank in range(3)
        ]
        for sampler in samplers:
            sampler.set_epoch(epoch)
        return [list(batch) for batch in zip(*samplers)]

    name = "torch.utils.data."
    yield name + "DataLoader(shuffle=True)", epochs(shuffle=True), {}
    yield name + "DataLoader", epochs(), {}
    yield name + "RandomSampler", epochs(sampler=RandomSampler(data)), {}
    replacement = RandomSampler(data, replacement=True)
    yield name + "RandomSampler(replacement=True)", epochs(sampler=replacement), {}
    subset = epochs(sampler=SubsetRandomSampler(range(RECORDS)))
    yield name + "SubsetRandomSampler", subset, {}
    order = [distributed(epoch) for epoch in range(EPOCHS)]
    yield name + "distributed.DistributedSampler(drop_last=True)", order, {}


def opacus_loaders():
    import warnings

    import torch
    from opacus import PrivacyEngine
    from opacus.data_loader import DPDataLoader
    from opacus.utils.uniform_sampler import UniformWithReplacementSampler
    from torch.utils.data import DataLoader, TensorDataset

    warnings.simplefilter("ignore")
    torch.manual_seed(1)
    data = TensorDataset(torch.arange(RECORDS))

    def epochs(loader):
        return [[batch[0].tolist() for batch in loader] for _ in range(EPOCHS)]

    def private(**options):
        model = torch.nn.Linear(1, 1)
        _, _, loader = PrivacyEngine().make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
            data_loader=DataLoader(data, batch_size=BATCH, shuffle=True),
            noise_multiplier=1.0,
            max_grad_norm=1.0,
            **options,
        )
        return epochs(loader)

    rate = {"rate": 1 / STEPS}  # not BATCH / RECORDS
    loader = DPDataLoader.from_data_loader(DataLoader(data, batch_size=BATCH))
    yield "opacus.data_loader.DPDataLoader", epochs(loader), rate
    sampler = UniformWithReplacementSampler(num_samples=RECORDS, sample_rate=0.3)
    sampled = [list(sampler) for _ in range(EPOCHS)]
    yield "opacus.utils.uniform_sampler.UniformWithReplacementSampler", sampled, {"rate": 0.3}
    yield "opacus.PrivacyEngine.make_private", private(), rate
    unchanged = private(poisson_sampling=False)
    yield "opacus.PrivacyEngine.make_private(poisson_sampling=False)", unchanged, {}


def jax_privacy_loaders():
    from jax_privacy import batch_selection as selection

    def epochs(strategy, cycle):
        """Cycles of a strategy; `cycle` batches each."""
        batches = strategy.batch_iterator(RECORDS, rng=1)
        batches = [[int(record) for record in batch] for batch in batches]
        return [batches[at : at + cycle] for at in range(0, len(batches), cycle)]

    steps = STEPS * EPOCHS
    name = "jax_privacy.batch_selection."
    poisson = selection.CyclicPoissonSampling(sampling_prob=0.3, iterations=steps)
    yield name + "CyclicPoissonSampling", epochs(poisson, STEPS), {"rate": 0.3}
    bins = selection.BallsInBinsSampling(iterations=steps, cycle_length=STEPS)
    yield name + "BallsInBinsSampling", epochs(bins, STEPS), {}
    fixed = selection.FixedBatchSampling(batch_size=BATCH, iterations=steps)
    yield name + "FixedBatchSampling", epochs(fixed, STEPS), {}
    repeated = selection.FixedBatchSampling(batch_size=BATCH, iterations=steps, replace=True)
    yield name + "FixedBatchSampling(replace=True)", epochs(repeated, STEPS), {}


def grain_loaders():
    import grain
    from grain.experimental import WindowShuffleMapDataset

    def cut(records):
        records = [int(record) for record in records]
        return [chunks(records[at : at + RECORDS]) for at in range(0, len(records), RECORDS)]

    source = grain.MapDataset.range(RECORDS)
    shuffled = source.shuffle(seed=1).repeat(FEWER)
    yield "grain.MapDataset.shuffle", cut(shuffled[at] for at in range(len(shuffled))), {}
    window = 5
    repeated = WindowShuffleMapDataset(source.repeat(FEWER), window_size=window, seed=1)
    blocks = cut(repeated[at] for at in range(len(repeated)))
    yield "grain.experimental.WindowShuffleMapDataset", blocks, {"buffer": window}
    for shuffle in [True, False]:
        sampler = grain.samplers.IndexSampler(RECORDS, shuffle=shuffle, seed=1, num_epochs=FEWER)
        keys = (sampler[at].record_key for at in range(RECORDS * FEWER))
        name = "grain.samplers.IndexSampler" + ("(shuffle=True)" if shuffle else "")
        yield name, cut(keys), {}


def webdataset_loaders():
    import io
    import os
    import tarfile
    import tempfile

    import webdataset

    with tempfile.TemporaryDirectory() as folder:
        shards = []
        for shard in chunks(range(RECORDS), 4):
            shards.append(os.path.join(folder, f"{shard[0]}.tar"))
            with tarfile.open(shards[-1], "w") as archive:
                for record in shard:
                    content = str(record).encode()
                    entry = tarfile.TarInfo(f"{record}.txt")
                    entry.size = len(content)
                    archive.addfile(entry, io.BytesIO(content))
        data = webdataset.WebDataset(shards, shardshuffle=3, seed=1).shuffle(1000).decode()
        epochs = [chunks(int(sample["txt"]) for sample in data) for _ in range(FEWER)]
    yield "webdataset.WebDataset", epochs, {}


def tensorflow_loaders():
    import tensorflow

    tensorflow.random.set_seed(1)
    records = tensorflow.data.Dataset.range(RECORDS)
    name = "tf.data.Dataset.shuffle"
    for keywords, options in [
        ("", {}),
        ("(reshuffle_each_iteration=False)", {"reshuffle_each_iteration": False}),
    ]:
        data = records.shuffle(4, **options).batch(BATCH)
        epochs = [[batch.tolist() for batch in data.as_numpy_iterator()] for _ in range(EPOCHS)]
        yield name + keywords, epochs, {"buffer": 4}


if __name__ == "__main__":
    library = globals()[sys.argv[1] + "_loaders"]
    found = [{"loader": name, "epochs": epochs, **facts} for name, epochs, facts in library()]
    json.dump({"records": RECORDS, "batch": BATCH, "loaders": found}, sys.stdout)
