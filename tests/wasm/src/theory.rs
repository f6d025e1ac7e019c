//! What accountants say of trainings, what is calibrated, and the rows of the exact pair.

use dpscope_core::accounting::Directions;
use dpscope_core::curve::poisson_curve;
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::theory::{
    Accounted, At, Calibration, Cell, Found, Kind, Setting, ShuffleMethod, Wanted,
};
use dpscope_engine::backend::CpuBackend;
use dpscope_engine::pair::PairSampler;
use dpscope_engine::{Backend, Unattended};

use crate::Fingerprints;

const AT: [At; 3] = [At::Delta(1e-5), At::Delta(1e-9), At::Epsilon(1.5)];

pub(crate) fn collect(found: &mut Fingerprints) {
    for (noise_multiplier, steps, epochs) in
        [(1.0, 100, 1), (0.5, 30, 1), (3.0, 1000, 1), (0.8, 50, 4), (2.0, 200, 20)]
    {
        let setting = Setting { noise_multiplier, steps, epochs };
        accountants(found, setting);
        pairs(found, setting);
        let curve = poisson_curve(&setting.as_poisson(None)).expect("in the domain");
        let points = curve.points().iter().flat_map(|point| [point.fpr, point.fnr]);
        found.hashed("curves", points.map(f64::to_bits));
    }
    calibrations(found);
}

fn accountants(found: &mut Fingerprints, setting: Setting) {
    for at in AT {
        let mut row = |row: Found| match row {
            Ok(Accounted { epsilon, delta, numeric_error, .. }) => {
                found.float("accountants", epsilon);
                found.float("accountants", delta);
                found.float("accountants", numeric_error);
            }
            Err(_) => found.integer("accountants", 0),
        };
        row(setting.poisson(at));
        row(setting.poisson_sampled(Some(0.02), at, Kind::Lower, Directions::Remove));
        // the slowest of them
        if setting.epochs == 1 && at != At::Delta(1e-9) {
            row(setting.balls_in_bins(at, Kind::Upper, Directions::Both));
            row(setting.balls_in_bins(at, Kind::Lower, Directions::Add));
        }
        row(setting.deterministic(at));
        for method in [ShuffleMethod::MaxSlice, ShuffleMethod::Sum, ShuffleMethod::Best] {
            row(setting.shuffle_lower(at, method));
        }
        row(setting.persistent_shuffle_lower(at, ShuffleMethod::Best));
        row(setting.pair_upper(at));
    }
}

fn pairs(found: &mut Fingerprints, setting: Setting) {
    let backend = Backend::Cpu(CpuBackend::new(1).expect("a thread"));
    let sampler =
        PairSampler { seed: 7, observations: Some(2_000), significance: 0.05, whole_runs: true };
    let rows = sampler.rows(setting, At::Delta(1e-5), &backend, &Unattended).expect("drawn");
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
    for (wanted, sampler) in [
        (Wanted::Noise, SamplerKind::Poisson),
        (Wanted::Epochs, SamplerKind::Poisson),
        (Wanted::Noise, SamplerKind::Shuffle),
        (Wanted::Epochs, SamplerKind::Deterministic),
        (Wanted::Noise, SamplerKind::BallsInBins),
    ] {
        let is_noise = wanted == Wanted::Noise;
        let asked = Calibration {
            wanted,
            sampler,
            epsilon: 4.0,
            delta: 1e-5,
            noise_multiplier: (!is_noise).then_some(1.3),
            steps: Some(60),
            epochs: None,
            sampling_rate: None,
        };
        let calibrated = asked.found().expect("in reach");
        found.float("calibration", calibrated.value);
        found.float("calibration", calibrated.epsilon);
    }
}
