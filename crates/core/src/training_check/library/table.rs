//! The table of library loaders; of several rows with one path, the first whose arguments match.

use super::library_loader::LibraryLoader;
use crate::mechanism::SamplerKind;
use crate::training_check::{LoaderKind, OtherBatches};

const POISSON: LoaderKind = LoaderKind::Sampler(SamplerKind::Poisson);
const SHUFFLE: LoaderKind = LoaderKind::Sampler(SamplerKind::Shuffle);
const PERSISTENT: LoaderKind = LoaderKind::Sampler(SamplerKind::PersistentShuffle);
const IN_ORDER: LoaderKind = LoaderKind::Sampler(SamplerKind::Deterministic);
const BLOCKS: LoaderKind = LoaderKind::Sampler(SamplerKind::PartialShuffle);
const BUFFER: LoaderKind = LoaderKind::Sampler(SamplerKind::SlidingBuffer);
const WHOLE_BATCHES: LoaderKind = LoaderKind::Sampler(SamplerKind::BatchThenShuffle);
const TRUNCATED: LoaderKind = LoaderKind::Sampler(SamplerKind::TruncatedPoisson);
const FIXED_SIZE: LoaderKind = LoaderKind::Sampler(SamplerKind::FixedSize);
const REPLACEMENT: LoaderKind = LoaderKind::Other(OtherBatches::WithReplacement);
const ONCE: LoaderKind = LoaderKind::Other(OtherBatches::OncePerEpoch);
const UNKNOWN: LoaderKind = LoaderKind::Other(OtherBatches::Unknown);

const TORCH: &str = "PyTorch 2.15 documentation, torch.utils.data";
const OPACUS: &str = "Opacus 1.6 API reference, DPDataLoader and PrivacyEngine";
const TENSORFLOW: &str = "TensorFlow 2.21 API documentation, tf.data.Dataset";
const KERAS: &str = "Keras 3.15 API documentation, Model.fit";
const TRANSFORMERS: &str = "Transformers 5.24 documentation, Trainer";
const DATASETS: &str = "Hugging Face Datasets 5.2 documentation, Process and Stream";
const JAX_PRIVACY: &str = "jax-privacy 2.0 documentation, batch_selection";
const GRAIN: &str = "Grain 0.2.18 documentation, Dataset and samplers";
const WEBDATASET: &str = "WebDataset 1.0 documentation, WebDataset and shuffle";
const FLOWER: &str = "Flower 1.42 documentation, strategies";

const KEPT: &str = "the last, smaller batch is kept unless drop_last=True.";
const REMAINDER: &str = "the last, smaller batch is kept unless drop_remainder=True.";
const ACCUMULATION: &str = "gradient accumulation makes the batch of one noisy step larger than \
                            batch_size: enter the number of records per noisy step.";
const SAME_SEED: &str = "a generator that is seeded anew in each epoch repeats one order: that is \
                         persistent-shuffle.";
const ASSUMES_POISSON: &str = "the accountant assumes Poisson batches all the same.";

/// Every library loader.
pub const LIBRARY_LOADERS: &[LibraryLoader] = &[
    LibraryLoader {
        name: "grain.DataLoader",
        paths: &["grain.dataloader", "grain.python.dataloader", "pygrain.dataloader"],
        keywords: &[],
        batches: UNKNOWN,
        behaviour: "Reads records in the order of its sampler.",
        traps: &["name the sampler, as in grain.DataLoader(sampler=IndexSampler(shuffle=True))."],
        source: GRAIN,
    },
    LibraryLoader {
        name: "torch.utils.data.DataLoader(sampler=own)",
        paths: &["dataloader"],
        keywords: &[("sampler", "*")],
        batches: UNKNOWN,
        behaviour: "Reads records in the order of a sampler that is not in this table.",
        traps: &["describe the sampler by the name of its batches."],
        source: TORCH,
    },
    LibraryLoader {
        name: "torch.utils.data.DataLoader(batch_sampler=own)",
        paths: &["dataloader"],
        keywords: &[("batch_sampler", "*")],
        batches: UNKNOWN,
        behaviour: "Takes whole batches from a sampler that is not in this table.",
        traps: &["describe the sampler by the name of its batches."],
        source: TORCH,
    },
    LibraryLoader {
        name: "torch.utils.data.DataLoader(shuffle=True)",
        paths: &["dataloader"],
        keywords: &[("shuffle", "true")],
        batches: SHUFFLE,
        behaviour: "A fresh permutation of all records in every epoch, cut into batches.",
        traps: &[
            KEPT,
            SAME_SEED,
            ACCUMULATION,
            "Opacus draws Poisson batches from it only in make_private(poisson_sampling=True).",
        ],
        source: TORCH,
    },
    LibraryLoader {
        name: "torch.utils.data.DataLoader",
        paths: &["dataloader"],
        keywords: &[],
        batches: IN_ORDER,
        behaviour: "All records in file order, the same batches in every epoch: shuffle is False by \
                    default.",
        traps: &[KEPT, "an IterableDataset determines its own order, which may differ."],
        source: TORCH,
    },
    LibraryLoader {
        name: "torch.utils.data.RandomSampler(replacement=True)",
        paths: &["randomsampler"],
        keywords: &[("replacement", "true")],
        batches: REPLACEMENT,
        behaviour: "Draws each record independently from all records; a batch may contain a record \
                    more than once.",
        traps: &[
            "only the draws are independent: a batch has a fixed size, and a record that is drawn \
             twice counts twice in the sum, so one record can move it by more than the clip norm.",
            "Poisson accounting is no upper bound here: at q = 1 − (1 − 1/N)^B it is a lower one.",
        ],
        source: TORCH,
    },
    LibraryLoader {
        name: "torch.utils.data.RandomSampler",
        paths: &["randomsampler"],
        keywords: &[],
        batches: SHUFFLE,
        behaviour: "A fresh permutation of all records in every epoch.",
        traps: &[
            "num_samples above the number of records appends further permutations: count them as \
             epochs.",
            SAME_SEED,
        ],
        source: TORCH,
    },
    LibraryLoader {
        name: "torch.utils.data.SubsetRandomSampler",
        paths: &["subsetrandomsampler"],
        keywords: &[],
        batches: SHUFFLE,
        behaviour: "A fresh permutation of the given indices in every epoch.",
        traps: &["dataset_size is the number of these indices, not of all records."],
        source: TORCH,
    },
    LibraryLoader {
        name: "torch.utils.data.SequentialSampler",
        paths: &["sequentialsampler"],
        keywords: &[],
        batches: IN_ORDER,
        behaviour: "All records in file order.",
        traps: &[],
        source: TORCH,
    },
    LibraryLoader {
        name: "torch.utils.data.WeightedRandomSampler",
        paths: &["weightedrandomsampler"],
        keywords: &[],
        batches: UNKNOWN,
        behaviour: "Draws records with probabilities of their own, by default with replacement.",
        traps: &[
            "records with large weights are drawn more often than batch size over records.",
            "weights that are computed from the data leak as well.",
        ],
        source: TORCH,
    },
    LibraryLoader {
        name: "torch.utils.data.distributed.DistributedSampler(drop_last=True)",
        paths: &["distributedsampler"],
        keywords: &[("drop_last", "true")],
        batches: ONCE,
        behaviour: "A permutation that depends on seed and epoch, dealt out to the processes; the \
                    tail is dropped.",
        traps: &[
            "without set_epoch before each epoch, all epochs have the same order.",
            "the batch of one noisy step is that of all processes together.",
        ],
        source: TORCH,
    },
    LibraryLoader {
        name: "torch.utils.data.distributed.DistributedSampler",
        paths: &["distributedsampler"],
        keywords: &[],
        batches: UNKNOWN,
        behaviour: "As with drop_last=True, but records are repeated until all processes have \
                    equally many.",
        traps: &[
            "a repeated record is in two batches of an epoch, or twice in one.",
            "without set_epoch before each epoch, all epochs have the same order.",
        ],
        source: TORCH,
    },
    LibraryLoader {
        name: "opacus.data_loader.DPDataLoader",
        paths: &["dpdataloader", "dpdataloader.from_data_loader"],
        keywords: &[],
        batches: POISSON,
        behaviour: "Each record is in each batch with probability 1/len(loader); batches vary in size \
                    and may be empty.",
        traps: &[
            "the rate is one over the batches per epoch of the loader that it replaces, not batch \
             size over records: with drop_last=True there it is larger.",
            "by rounding, an epoch has one batch fewer than that for some numbers of batches, such \
             as 93, 99, 105 or 234.",
            "BatchMemoryManager splits batches in memory only: the noisy step is that of the whole \
             batch.",
        ],
        source: OPACUS,
    },
    LibraryLoader {
        name: "opacus.utils.uniform_sampler.UniformWithReplacementSampler",
        paths: &["uniformwithreplacementsampler"],
        keywords: &[],
        batches: POISSON,
        behaviour: "Each record is in each batch with probability sample_rate: Poisson batches, \
                    despite its name.",
        traps: &["batches may be empty; an epoch has int(1/sample_rate) of them."],
        source: OPACUS,
    },
    LibraryLoader {
        name: "opacus.PrivacyEngine.make_private(poisson_sampling=False)",
        paths: &["make_private", "make_private_with_epsilon"],
        keywords: &[("poisson_sampling", "false")],
        batches: SHUFFLE,
        behaviour: "Leaves the loader as it is: a shuffle if that is DataLoader(shuffle=True).",
        traps: &[ASSUMES_POISSON, "name the loader itself if it does not shuffle.", KEPT],
        source: OPACUS,
    },
    LibraryLoader {
        name: "opacus.PrivacyEngine.make_private",
        paths: &["make_private", "make_private_with_epsilon"],
        keywords: &[],
        batches: POISSON,
        behaviour: "Replaces the loader by a DPDataLoader: poisson_sampling is True by default.",
        traps: &[
            "train on the loader that it returns; the original one still shuffles.",
            "the rate is one over the batches per epoch of the original loader.",
        ],
        source: OPACUS,
    },
    LibraryLoader {
        name: "tf.data.Dataset.shuffle(reshuffle_each_iteration=False)",
        paths: &["tf.data.dataset.shuffle", "tf.data.shuffle", "tensorflow.data.dataset.shuffle"],
        keywords: &[("reshuffle_each_iteration", "false")],
        batches: ONCE,
        behaviour: "One order from a buffer of buffer_size records, repeated in every epoch.",
        traps: &[REMAINDER, "repeat before batch lets batches contain records of two epochs."],
        source: TENSORFLOW,
    },
    LibraryLoader {
        name: "tf.data.Dataset.shuffle",
        paths: &["tf.data.dataset.shuffle", "tf.data.shuffle", "tensorflow.data.dataset.shuffle"],
        keywords: &[],
        batches: BUFFER,
        behaviour: "Draws from a buffer of buffer_size records that is refilled in file order, anew \
                    in every epoch.",
        traps: &[
            "a buffer smaller than the data set keeps a record near its place in the file.",
            REMAINDER,
            "shuffle after batch shuffles whole batches: that is batch-then-shuffle.",
            "shuffle before cache repeats one order in every epoch.",
            "interleaved or shuffled files change the order before the buffer.",
        ],
        source: TENSORFLOW,
    },
    LibraryLoader {
        name: "keras.Model.fit(shuffle='batch')",
        paths: &["model.fit"],
        keywords: &[("shuffle", "batch")],
        batches: WHOLE_BATCHES,
        behaviour: "Shuffles the order of batches of consecutive records.",
        traps: &["the records of a batch stay together in every epoch."],
        source: KERAS,
    },
    LibraryLoader {
        name: "keras.Model.fit(shuffle=False)",
        paths: &["model.fit"],
        keywords: &[("shuffle", "false")],
        batches: IN_ORDER,
        behaviour: "All records in the order of the arrays.",
        traps: &[],
        source: KERAS,
    },
    LibraryLoader {
        name: "keras.Model.fit",
        paths: &["model.fit"],
        keywords: &[],
        batches: SHUFFLE,
        behaviour: "A fresh permutation of the arrays in every epoch.",
        traps: &[
            "shuffle is ignored for tf.data, generators and data loaders: name those instead.",
            "the last, smaller batch is kept.",
        ],
        source: KERAS,
    },
    LibraryLoader {
        name: "transformers.TrainingArguments(train_sampling_strategy='group_by_length')",
        paths: &["trainer", "trainingarguments"],
        keywords: &[("train_sampling_strategy", "group_by_length")],
        batches: UNKNOWN,
        behaviour: "Puts records of similar length into the same batch.",
        traps: &["the order depends on the records, so no bound for a random order holds."],
        source: TRANSFORMERS,
    },
    LibraryLoader {
        name: "transformers.TrainingArguments(train_sampling_strategy='sequential')",
        paths: &["trainer", "trainingarguments"],
        keywords: &[("train_sampling_strategy", "sequential")],
        batches: IN_ORDER,
        behaviour: "All records in the order of the data set.",
        traps: &[],
        source: TRANSFORMERS,
    },
    LibraryLoader {
        name: "transformers.Trainer",
        paths: &["trainer", "trainingarguments"],
        keywords: &[],
        batches: SHUFFLE,
        behaviour: "A RandomSampler without replacement: a fresh permutation in every epoch.",
        traps: &[
            "dataloader_drop_last is False by default.",
            "a noisy step has per-device batch size × devices × gradient accumulation records.",
            "a streamed data set is read in its own order.",
        ],
        source: TRANSFORMERS,
    },
    LibraryLoader {
        name: "datasets.IterableDataset.shuffle",
        paths: &["iterabledataset.shuffle"],
        keywords: &[],
        batches: ONCE,
        behaviour: "Shuffles the order of the shards, then draws from a buffer of 1,000 records by \
                    default.",
        traps: &[
            "without set_epoch, all epochs have the same order.",
            "a buffer smaller than the data set keeps a record near its place in the shard.",
        ],
        source: DATASETS,
    },
    LibraryLoader {
        name: "datasets.Dataset.shuffle",
        paths: &["datasets.dataset.shuffle"],
        keywords: &[],
        batches: PERSISTENT,
        behaviour: "One permutation; every epoch reads that order unless the loader shuffles again.",
        traps: &["with DataLoader(shuffle=True) on top, the loader is what counts."],
        source: DATASETS,
    },
    LibraryLoader {
        name: "jax_privacy.batch_selection.CyclicPoissonSampling(cycle_length=b)",
        paths: &["cyclicpoissonsampling"],
        keywords: &[("cycle_length", "*")],
        batches: UNKNOWN,
        behaviour: "Splits the records into groups; step t draws Poisson batches from group t modulo \
                    cycle_length.",
        traps: &[
            "the rate holds within a group, and EQUAL_SPLIT drops the remaining records.",
            "cycle_length=1 is Poisson: leave the argument out.",
        ],
        source: JAX_PRIVACY,
    },
    LibraryLoader {
        name: "jax_privacy.batch_selection.CyclicPoissonSampling(truncated_batch_size=B)",
        paths: &["cyclicpoissonsampling"],
        keywords: &[("truncated_batch_size", "*")],
        batches: TRUNCATED,
        behaviour: "Poisson batches, of which a uniform subset is kept if they exceed the size.",
        traps: &[
            "Poisson accounting ignores the truncation; jax-privacy has a separate DpEvent for it.",
        ],
        source: JAX_PRIVACY,
    },
    LibraryLoader {
        name: "jax_privacy.batch_selection.CyclicPoissonSampling",
        paths: &["cyclicpoissonsampling"],
        keywords: &[],
        batches: POISSON,
        behaviour: "Each record is in each batch independently with probability sampling_prob.",
        traps: &["batches vary in size; padding to a fixed shape must not truncate them."],
        source: JAX_PRIVACY,
    },
    LibraryLoader {
        name: "jax_privacy.batch_selection.BallsInBinsSampling",
        paths: &["ballsinbinssampling"],
        keywords: &[],
        batches: ONCE,
        behaviour: "Each record gets one random batch of a cycle, and the same one in every cycle.",
        traps: &[
            "for a single cycle, name balls-in-bins, which has tighter bounds; with several cycles \
             the bins are not drawn anew, which balls-in-bins assumes.",
        ],
        source: JAX_PRIVACY,
    },
    LibraryLoader {
        name: "jax_privacy.batch_selection.FixedBatchSampling(replace=True)",
        paths: &["fixedbatchsampling"],
        keywords: &[("replace", "true")],
        batches: REPLACEMENT,
        behaviour: "Draws each record of a batch independently from all records.",
        traps: &["a record that is drawn twice counts twice in the sum."],
        source: JAX_PRIVACY,
    },
    LibraryLoader {
        name: "jax_privacy.batch_selection.FixedBatchSampling",
        paths: &["fixedbatchsampling"],
        keywords: &[],
        batches: FIXED_SIZE,
        behaviour: "Each batch is a uniform subset of batch_size records, drawn anew in each step.",
        traps: &["Poisson accounting at q = B/N is a lower bound under zero-out adjacency."],
        source: JAX_PRIVACY,
    },
    LibraryLoader {
        name: "jax_privacy.batch_selection.BMinSepSampling",
        paths: &["bminsepsampling"],
        keywords: &[],
        batches: UNKNOWN,
        behaviour: "Poisson batches without the records of the last min_sep − 1 batches.",
        traps: &["the batches of a record depend on each other; no closed form is known."],
        source: JAX_PRIVACY,
    },
    LibraryLoader {
        name: "grain.MapDataset.shuffle",
        paths: &["mapdataset.shuffle"],
        keywords: &[],
        batches: SHUFFLE,
        behaviour: "A permutation of all records from the seed plus the number of the epoch.",
        traps: &[
            "batch after repeat lets batches contain records of two epochs.",
            "the permutation has few rounds of mixing and one 32-bit seed.",
            REMAINDER,
        ],
        source: GRAIN,
    },
    LibraryLoader {
        name: "grain.experimental.WindowShuffleMapDataset",
        paths: &["windowshufflemapdataset", "windowshuffleiterdataset"],
        keywords: &[],
        batches: BLOCKS,
        behaviour: "Shuffles blocks of window_size records, one after another.",
        traps: &["a window smaller than the data set keeps a record in its block."],
        source: GRAIN,
    },
    LibraryLoader {
        name: "grain.samplers.IndexSampler(shuffle=True)",
        paths: &["indexsampler"],
        keywords: &[("shuffle", "true")],
        batches: SHUFFLE,
        behaviour: "A permutation of all records from the seed and the number of the epoch.",
        traps: &["shards with drop_remainder=True leave records out."],
        source: GRAIN,
    },
    LibraryLoader {
        name: "grain.samplers.IndexSampler",
        paths: &["indexsampler"],
        keywords: &[],
        batches: IN_ORDER,
        behaviour: "All records in order: shuffle is False by default.",
        traps: &[],
        source: GRAIN,
    },
    LibraryLoader {
        name: "webdataset.WebDataset(resampled=True)",
        paths: &["webdataset"],
        keywords: &[("resampled", "true")],
        batches: UNKNOWN,
        behaviour: "Draws shards with replacement, without end.",
        traps: &["a record is read as often as its shard: several times in an epoch, or never."],
        source: WEBDATASET,
    },
    LibraryLoader {
        name: "webdataset.WebDataset",
        paths: &["webdataset"],
        keywords: &[],
        batches: ONCE,
        behaviour: "Shuffles the order of the shards if shardshuffle is set, then records in a \
                    buffer with shuffle(1000).",
        traps: &[
            "without shardshuffle and shuffle, records come in file order.",
            "the buffer yields from 100 records on, by default, before it is full.",
            "records of one shard stay near each other in every epoch.",
        ],
        source: WEBDATASET,
    },
    LibraryLoader {
        name: "flwr.serverapp.strategy.FedAvg",
        paths: &["fedavg", "simpleclientmanager.sample", "sample_nodes"],
        keywords: &[],
        batches: FIXED_SIZE,
        behaviour: "Each round draws a uniform subset of the connected clients.",
        traps: &[
            "clients that are connected may be fewer than all clients, which raises the rate.",
            "the mean weights clients by their number of examples, but the noise is that of equal \
             weights: one client can move it by more than clipping norm / clients.",
        ],
        source: FLOWER,
    },
];
