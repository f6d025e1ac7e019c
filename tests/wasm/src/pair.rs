//! Draws of the exact pair, and their estimates.

use dpscope_core::accounting::pair::{ExactPair, PairMethod, epsilon_proposal};
use dpscope_core::accounting::{Given, Training};
use dpscope_engine::Unattended;
use dpscope_shaders::PairKernel;
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Backend, pair};

use crate::Fingerprints;

pub(crate) fn collect(found: &mut Fingerprints) {
    let backend = Backend::Cpu(CpuBackend::new(1).expect("a thread"));
    for (seed, (noise_multiplier, steps_per_epoch)) in
        (7..).zip([(1.0, 100), (0.05, 13), (5.0, 30), (0.3, 2)])
    {
        let run = Training { noise_multiplier, steps_per_epoch, epochs: 1, sampling_rate: None };
        let proposal = epsilon_proposal(&run, 1e-5).expect("in the domain");
        let kernel = PairKernel::new(&proposal, seed).expect("the kernel takes it");
        let values = kernel.values(1_000_003, 200, &|| true).expect("nobody stops it");
        let words = values.iter().flatten().map(|&word| u64::from(word));
        found.hashed("pair draws", words);
        let exact = ExactPair { method: PairMethod::OneEpoch, draws: 2_000, significance: 0.025 };
        let seen = pair::evaluate(&exact, &run, Given::Delta(1e-5), seed, &backend, &Unattended);
        let seen = seen.expect("in the domain");
        found.float("pair epsilon", seen.lower.epsilon);
        found.float("pair epsilon", seen.estimate.epsilon);
        found.float("pair epsilon", seen.estimate.standard_error.expect("an estimate"));
    }
}
