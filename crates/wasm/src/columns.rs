//! Known bounds along one parameter of a training.

use dpscope_core::accounting::{Accounted, Given, Setting};
use dpscope_report::record::input::Axis;

use crate::failure::Failure;
use crate::input::{integer, named};

/// ε at each place along a parameter; NaN where there is none.
///
/// # Errors
/// An unknown parameter; more than `most` places.
pub(crate) fn along(
    (setting, delta): (Setting, f64),
    axis: &str,
    (places, most): (&[f64], usize),
    bound: impl Fn(&Setting, Given) -> Result<Accounted, Failure>,
) -> Result<Vec<f64>, Failure> {
    let axis = named("axis", axis)?;
    if places.len() > most {
        let allowed = format!("a column of at most {most} numbers");
        return Err(Failure::outside("places", places.len() as f64, &allowed));
    }
    let epsilon = |place: f64| {
        let (setting, delta) = moved(setting, delta, axis, place)?;
        Some(bound(&setting, Given::Delta(delta)).ok()?.epsilon)
    };
    Ok(places.iter().map(|place| epsilon(*place).unwrap_or(f64::NAN)).collect())
}

fn moved(mut setting: Setting, delta: f64, axis: Axis, place: f64) -> Option<(Setting, f64)> {
    let training = &mut setting.training;
    match axis {
        Axis::NoiseMultiplier => training.noise_multiplier = place,
        Axis::Steps => {
            let uses = training.sampling_rate.map(|rate| rate * training.steps_per_epoch as f64);
            training.steps_per_epoch = integer("steps", place, 1).ok()?;
            training.sampling_rate = uses.map(|uses| uses / training.steps_per_epoch as f64);
        }
        Axis::Epochs => training.epochs = integer("epochs", place, 1).ok()?,
        Axis::Delta => return Some((setting, place)),
    }
    Some((setting, delta))
}

#[cfg(test)]
mod tests {
    use dpscope_core::accounting::Training;

    use super::*;

    #[test]
    fn a_record_stays_in_as_many_steps() {
        let training = Training {
            noise_multiplier: 1.0,
            steps_per_epoch: 50,
            epochs: 1,
            sampling_rate: Some(0.04),
        };
        let setting = Setting::zero_out(training);
        for steps in [3, 7, 49, 1_000] {
            let (moved, delta) = moved(setting, 1e-5, Axis::Steps, f64::from(steps)).unwrap();
            assert_eq!((moved.training.uses_per_epoch(), delta), (Ok(2), 1e-5));
        }
        assert!(moved(setting, 1e-5, Axis::Steps, 1.5).is_none());
        assert_eq!(moved(setting, 1e-5, Axis::Delta, 1e-3).unwrap().1, 1e-3);
    }
}
