//! What each canary declares or sends, drawn by lot.

use dpscope_core::audit::one_run::CanaryClass;
use dpscope_core::random::{Purpose, Words};

/// The number that a canary declares, each of `choices` with the same probability; none without choices.
///
/// It depends on the seed, the class and the canary alone.
///
/// # Guarantee
/// `unit::numbers_are_drawn_alike_and_independently`.
#[must_use]
pub fn declared_number(choices: &[f64], class: CanaryClass, seed: u64, canary: u64) -> Option<f64> {
    let class = match class {
        CanaryClass::Weight => 1,
        CanaryClass::Loudness => 2,
    };
    // stream 0 draws the number of canaries
    let stream = canary.wrapping_mul(2).wrapping_add(class);
    let count = u32::try_from(choices.len()).ok().filter(|&count| count > 0)?;
    let place = Words::new(seed, Purpose::CanaryNumber, stream).below(count);
    choices.get(place as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_drawn_alike_and_independently() {
        let choices = [1.0, 10.0, 100.0];
        let of = |class, canary| declared_number(&choices, class, 7, canary).unwrap();
        let mut counts = [[0_i32; 3]; 3];
        for canary in 0..9_000 {
            let [weight, loudness] = [CanaryClass::Weight, CanaryClass::Loudness]
                .map(|class| choices.iter().position(|&x| x == of(class, canary)).unwrap());
            counts[weight][loudness] += 1;
        }
        assert!(counts.iter().flatten().all(|count| (count - 1_000).abs() < 150), "{counts:?}");
        assert_eq!(declared_number(&[], CanaryClass::Weight, 7, 0), None);
    }
}
