//! Results of accountants and calibration, and the rows of the exact pair.

use dpscope_core::accounting::matrix::{
    MatrixMechanism, MatrixParticipation, PrefixObjective, StrategyDesign,
};
use dpscope_core::accounting::{
    Accountant, Accounted, AccountingResult, BallsInBins, Calibration, Cell, Deterministic,
    Directions, Given, Parameter, PersistentShuffle, Poisson, Query, Shuffle, ShuffleMethod,
    Training,
};
use dpscope_core::curve::poisson_curve;
use dpscope_core::mechanism::SamplerKind;
use dpscope_engine::Unattended;
use dpscope_simulation::Backend;
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::pair::PairSampler;

use crate::Fingerprints;

const GIVEN: [Given; 3] = [Given::Delta(1e-5), Given::Delta(1e-9), Given::Epsilon(1.5)];

pub(crate) fn collect(found: &mut Fingerprints) {
    for (noise_multiplier, steps_per_epoch, epochs) in
        [(1.0, 100, 1), (0.5, 30, 1), (3.0, 1000, 1), (0.8, 50, 4), (2.0, 200, 20)]
    {
        let training = Training { noise_multiplier, steps_per_epoch, epochs, sampling_rate: None };
        accountants(found, training);
        pairs(found, training);
        let curve = poisson_curve(&training).expect("in the domain");
        let points = curve.points().iter().flat_map(|point| [point.fpr, point.fnr]);
        found.hashed("curves", points.map(f64::to_bits));
    }
    calibrations(found);
    matrix_mechanisms(found);
}

fn matrix_mechanisms(found: &mut Fingerprints) {
    let group = "matrix mechanisms";
    let objective = PrefixObjective::Mean;
    let epochs = MatrixParticipation::Epochs { epochs: 5 };
    for design in [
        StrategyDesign::Tree,
        StrategyDesign::BandedSquareRoot { bands: 30 },
        StrategyDesign::BandedOptimised { bands: 12, objective },
        StrategyDesign::BufferedOptimised { buffers: 3, objective },
    ] {
        let strategy = design.build(200, &epochs).expect("a strategy");
        let error = strategy.prefix_error().expect("an error");
        let mechanism = MatrixMechanism::new(&strategy, epochs).expect("a mechanism");
        found.float(group, error.root_mean_square);
        found.float(group, error.largest);
        found.float(group, mechanism.l2_sensitivity().worst);
        found.float(group, mechanism.noise_for(3.0, 1e-6).expect("in reach"));
        found.float(group, mechanism.account(2.0, 1e-6).expect("an account").epsilon);
    }
}

fn accountants(found: &mut Fingerprints, training: Training) {
    for given in GIVEN {
        let mut row = |row: AccountingResult| match row {
            Ok(Accounted { epsilon, delta, numeric_error, .. }) => {
                found.float("accountants", epsilon);
                found.float("accountants", delta);
                found.float("accountants", numeric_error);
            }
            Err(_) => found.integer("accountants", 0),
        };
        let (upper, lower) = (Query::upper(training, given), Query::lower(training, given));
        row(Poisson.account(&upper));
        let training = Training { sampling_rate: Some(0.02), ..training };
        row(Poisson.account(&Query { training, directions: Directions::Remove, ..lower }));
        // the slowest of them
        if training.epochs == 1 && given != Given::Delta(1e-9) {
            row(BallsInBins.account(&upper));
            row(BallsInBins.account(&Query { directions: Directions::Add, ..lower }));
        }
        row(Deterministic.account(&upper));
        for method in [ShuffleMethod::MaxSlice, ShuffleMethod::Sum, ShuffleMethod::Best] {
            row(Shuffle(method).account(&lower));
        }
        row(PersistentShuffle(ShuffleMethod::Best).account(&lower));
        row(Shuffle(ShuffleMethod::MaxSlice).account(&upper));
    }
}

fn pairs(found: &mut Fingerprints, training: Training) {
    let backend = Backend::Cpu(CpuBackend::new(1).expect("a thread"));
    let sampler =
        PairSampler { seed: 7, observations: Some(2_000), significance: 0.05, whole_runs: true };
    let rows = sampler.rows(training, Given::Delta(1e-5), &backend, &Unattended).expect("drawn");
    found.float("rows of the pair", rows.lower.epsilon);
    match rows.estimate {
        Cell::Value(row) => found.float("rows of the pair", row.epsilon),
        Cell::Missing { reason } => {
            found.hashed("rows of the pair", reason.bytes().map(u64::from));
        }
    }
    found.integer("rows of the pair", rows.observations);
}

fn calibrations(found: &mut Fingerprints) {
    for (parameter, sampler) in [
        (Parameter::Noise, SamplerKind::Poisson),
        (Parameter::Epochs, SamplerKind::Poisson),
        (Parameter::Noise, SamplerKind::Shuffle),
        (Parameter::Epochs, SamplerKind::Deterministic),
        (Parameter::Noise, SamplerKind::BallsInBins),
    ] {
        let is_noise = parameter == Parameter::Noise;
        let asked = Calibration {
            parameter,
            sampler,
            epsilon: 4.0,
            delta: 1e-5,
            noise_multiplier: (!is_noise).then_some(1.3),
            steps: Some(60),
            epochs: None,
            sampling_rate: None,
            truncation: None,
            adjacency: None,
        };
        let calibrated = asked.run().expect("in reach");
        found.float("calibration", calibrated.value);
        found.float("calibration", calibrated.epsilon);
    }
}
