//! CPU-seconds of a federated training with its scores, on one thread: prints one line of JSON.
//!
//! A perceptron 784–32–2 on 900 clients with 10 records each, each in one of 50 server rounds and 5 local
//! epochs; 200 canaries scored by all attacks.
//!
//! `cargo run --release -p dpscope-train --example fedavg_speed`; `final` scores the final model only.

use dpscope_core::audit::one_shot::CanaryDesign;
use dpscope_engine::{Unattended, UnitRange, Workload};
use dpscope_simulation::TrainingDigest;
use dpscope_train::data::SyntheticData;
use dpscope_train::federated::{
    FederatedAttack, FederatedModels, FederatedPlan, FederatedSettings, FederatedTraining,
    NoiseMechanism, Participation, UpdateClipping,
};
use dpscope_train::{LayerSpec, ModelSpec};

const SEED: u64 = 1;

/// Trainings per measurement, and measurements.
const TRAININGS: u32 = 4;
const REPEATS: usize = 8;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sees_updates = std::env::args().nth(1).is_none_or(|word| word != "final");
    let settings = FederatedSettings {
        clients: 900,
        records_per_client: 10,
        concentration: None,
        rounds: 50,
        participation: Participation::Shuffled { epochs: 1 },
        presentations: None,
        local_epochs: 5,
        local_batch_size: 10,
        local_learning_rate: 0.5,
        clipping: UpdateClipping::Fixed { norm: 0.5 },
        noise_multiplier: 0.3,
        noise_mechanism: NoiseMechanism::Gaussian,
        server_learning_rate: 1.0,
        server_momentum: 0.9,
        sees_updates,
    };
    let layers =
        [LayerSpec::Linear { outputs: 32 }, LayerSpec::Relu, LayerSpec::Linear { outputs: 2 }];
    let data = SyntheticData::FmnistLike;
    let spec = ModelSpec { input: data.shape(), layers: layers.to_vec() };
    let training = FederatedTraining::new(&spec, data.generate(9_000, 2_000)?, settings, SEED)?;
    let plan = FederatedPlan {
        design: CanaryDesign::Fixed { canaries: 200 },
        repeats: TRAININGS,
        without_canaries: 0,
        unseen: 0,
        attack: FederatedAttack::FinalModel,
        delta: 1e-6,
        significance: 0.05,
        seed: SEED,
        training: TrainingDigest::of(training.description()),
    };
    let parameters = training.parameters();
    let models = FederatedModels::new(plan, training, 1)?;
    let mut shortest = f64::INFINITY;
    for _ in 0..REPEATS {
        let before = cpu_seconds()?;
        models.compute(&(), UnitRange { first: 0, end: TRAININGS.into() }, &Unattended)?;
        shortest = shortest.min(cpu_seconds()? - before);
    }
    println!(
        "{{\"parameters\": {parameters}, \"cpu_seconds_per_training\": {:.4}, \
         \"audits_per_cpu_second\": {:.2}}}",
        shortest / f64::from(TRAININGS),
        f64::from(TRAININGS) / shortest
    );
    Ok(())
}

/// Time of all threads of this process on a CPU.
fn cpu_seconds() -> Result<f64, Box<dyn std::error::Error>> {
    let mut nanoseconds = 0.0;
    for thread in std::fs::read_dir("/proc/self/task")? {
        let text = std::fs::read_to_string(thread?.path().join("schedstat"))?;
        nanoseconds += text.split_whitespace().next().unwrap_or("0").parse::<f64>()?;
    }
    Ok(nanoseconds / 1e9)
}
