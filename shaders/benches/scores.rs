//! Normals per second of the score kernel, for each instruction set and scoring method.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dpscope_core::adjacency::World;
use dpscope_core::mechanism::{ScoreDistribution, ScoreDistributionKind, SlotWeights};
use dpscope_shaders::{InstructionSet, Phase, ScoreKernel};
use std::hint::black_box;

fn one_slot(gap: f64) -> ScoreDistributionKind {
    ScoreDistributionKind::OneSlot { gap, weights: SlotWeights::Uniform }
}

fn scores(criterion: &mut Criterion) {
    let equal = SlotWeights::Weighted(vec![0.01; 100]);
    let distributions = [
        ("shuffle", 1.0, 1, 100, one_slot(2.0)),
        ("shuffle_1000", 1.0, 1, 1000, one_slot(2.0)),
        ("shuffle_10_epochs", 1.0, 10, 100, one_slot(2.0)),
        ("one_entry_1000_epochs", 1.0, 1000, 1, one_slot(2.0)),
        ("canary", 1.0, 1, 100, one_slot(1.0)),
        ("weighted", 1.0, 1, 100, ScoreDistributionKind::OneSlot { gap: 2.0, weights: equal }),
        ("moving_centre", 0.2, 1, 100, one_slot(2.0)),
        ("batch_then_shuffle", 1.0, 1, 100, one_slot(200.0)),
        ("poisson", 1.0, 1, 100, ScoreDistributionKind::Poisson { sampling_rate: 0.01 }),
    ];
    for (name, noise_multiplier, epochs, entries, kind) in distributions {
        let distribution = ScoreDistribution { noise_multiplier, epochs, entries, kind };
        let Ok(kernel) = ScoreKernel::new(&distribution, 7, Phase::Audit) else { continue };
        let mut out = vec![0; 1024];
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(1024 * kernel.entries_per_observation()));
        for isa in InstructionSet::available() {
            let kernel = kernel.clone().with_instruction_set(isa);
            group.bench_function(isa.name(), |bencher| {
                bencher.iter(|| kernel.scores(World::Target, 0, black_box(&mut out), &|| true));
            });
        }
    }
}

criterion_group!(benches, scores);
criterion_main!(benches);
