//! M5 to M7: what is released, what read real rows, and values.

use dpscope_core::adjacency::World;
use dpscope_core::audit::generator::InputDistribution;

use super::check::{Check, Observation, fired};
use crate::fault::{Detector, Fault};
use crate::mechanism::{Mechanism, Release};
use crate::settings::Latent;
use crate::table::Scaling;
use crate::trace::{Reader, Trace};

/// Which parts of the release are not those of the settings, or differ between the worlds.
pub(super) fn released_changes(mechanism: &Mechanism) -> Vec<Fault> {
    let settings = mechanism.settings();
    let releases = World::BOTH.map(|world| mechanism.release(world));
    let public = mechanism.public_scalings();
    let any = |changed: &dyn Fn(&Release) -> bool| releases.iter().any(changed);
    let is_mixture = |scaling: &Scaling| matches!(scaling, Scaling::Mixture { .. });
    let mixtures = any(&|release| release.scalings.iter().any(is_mixture));
    let bounds = any(&|release| release.scalings != public);
    [
        (any(&|release| release.rows != settings.rows), vec![Fault::E1]),
        (any(&|release| release.batch_size != settings.batch_size), vec![Fault::E12]),
        (any(&|release| release.delta != settings.delta), vec![Fault::E9]),
        (mixtures, vec![Fault::S3]),
        (bounds && !mixtures, vec![Fault::O3]),
        (any(&|release| release.label_counts.is_some()), vec![Fault::O6]),
    ]
    .into_iter()
    .filter(|(changed, _)| *changed)
    .flat_map(|(_, faults)| faults)
    .collect()
}

/// M5: what is released besides the rows.
pub(super) fn release(mechanism: &Mechanism) -> Check {
    let faults = released_changes(mechanism);
    let words = |fault: &Fault| match fault {
        Fault::E1 => Some("the number of rows"),
        Fault::E12 => Some("the batch size"),
        Fault::E9 => Some("δ"),
        Fault::S3 => Some("the encoding of columns"),
        Fault::O3 => Some("the bounds of columns"),
        Fault::O6 => Some("the number of rows with each label"),
        _ => None,
    };
    let parts: Vec<&str> = faults.iter().filter_map(words).collect();
    let observation = if faults.is_empty() {
        Observation::Clear
    } else {
        fired(&faults, format!("taken from the data: {}", parts.join(", ")))
    };
    Check {
        detector: Detector::ReleaseSchema,
        name: "release",
        observation,
        p_value: None,
        remedy: "choose it from public knowledge, before the data are seen",
    }
}

/// M6: what read real rows.
pub(super) fn taint(runs: &[&Trace]) -> Check {
    let mut faults = Vec::new();
    let mut parts = Vec::new();
    for run in runs {
        for reader in &run.readers {
            let has_teachers = run.readers.contains(&Reader::Teachers);
            let (names, words) = match reader {
                Reader::Teachers => continue,
                Reader::Student if has_teachers => (vec![Fault::E3], "the student"),
                Reader::Student => (vec![Fault::O1], "the discriminator"),
                Reader::Generator => (vec![Fault::O6], "the input of the generator"),
                Reader::Selection => (vec![Fault::E10], "the choice among outputs"),
            };
            if !parts.contains(&words) {
                parts.push(words);
                faults.extend(names);
            }
        }
    }
    let observation = match parts.is_empty() {
        true => Observation::Clear,
        false => {
            fired(&faults, format!("reads real rows without a noisy vote: {}", parts.join(", ")))
        }
    };
    Check {
        detector: Detector::Taint,
        name: "readers of real rows",
        observation,
        p_value: None,
        remedy: "let teachers alone read real rows, and everything else their noisy votes",
    }
}

/// M7: how encoded values become released ones.
pub(super) fn decoding(mechanism: &Mechanism) -> Check {
    let observation = match mechanism.decoding_change(World::Target) {
        Some(Some(fault)) => {
            let (fault, seen) = match fault {
                Fault::T5 => (Fault::T5, "integers are rounded towards zero"),
                _ => (Fault::U5, "numbers stay between −1 and 1"),
            };
            fired(&[fault], seen.to_owned())
        }
        Some(None) => Observation::Clear,
        None => Observation::Untestable { reason: "no column has numbers" },
    };
    Check {
        detector: Detector::OutputValues,
        name: "values",
        observation,
        p_value: None,
        remedy: "invert the encoding, and round integers to the nearest",
    }
}

/// M7: the distribution of the generator's input.
pub(super) fn latent_input(mechanism: &Mechanism, runs: &[&Trace], level: f64) -> Check {
    let stated = match mechanism.settings().latent {
        Latent::Uniform => InputDistribution::Uniform,
        Latent::Normal => InputDistribution::Normal,
    };
    let width = mechanism.width() as u64;
    let (mut count, mut squares) = (0, 0.0);
    for run in runs {
        let coordinates = run.released_rows * width;
        count += coordinates;
        squares += run.output_latent * coordinates as f64;
    }
    let conditioned = mechanism.release(World::Target).label_counts.is_some();
    let mean = squares / count.max(1) as f64;
    let p_value = if conditioned { 1.0 } else { stated.p_value(count, mean) };
    let observation = match () {
        () if conditioned => Observation::Untestable { reason: "the input contains labels" },
        () if p_value > level => Observation::Clear,
        () => {
            let seen = format!("the mean square of the input for released rows is {mean:.3}");
            fired(&[Fault::E11], seen)
        }
    };
    Check {
        detector: Detector::OutputValues,
        name: "input of the generator",
        observation,
        p_value: Some(p_value),
        remedy: "draw the input for released rows as in training",
    }
}

/// M7: how long teachers were trained.
pub(super) fn age(mechanism: &Mechanism, runs: &[&Trace]) -> Check {
    let steps = u64::from(mechanism.settings().teacher_steps);
    let expected = |run: &&Trace| steps * u64::from(run.iterations);
    let observation = match runs.iter().find(|run| run.teacher_age != expected(run)) {
        _ if runs.iter().all(|run| run.votes.votes.iter().all(|count| *count == 0)) => {
            Observation::Untestable { reason: "there are no teachers" }
        }
        None if runs.iter().all(|run| run.iterations < 2) => {
            Observation::Untestable { reason: "there is one iteration" }
        }
        None => Observation::Clear,
        Some(run) => {
            let seen = format!(
                "teachers have {} steps behind them where a run has {}",
                run.teacher_age,
                expected(run)
            );
            fired(&[Fault::U4], seen)
        }
    };
    Check {
        detector: Detector::OutputValues,
        name: "age of teachers",
        observation,
        p_value: None,
        remedy: "keep the parameters of teachers from one iteration to the next",
    }
}
