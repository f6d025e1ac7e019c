//! Losses of teachers on the rows that they had access to.

use dpscope_core::audit::generator::OwnRowLosses;
use dpscope_core::math;

use crate::mechanism::real_rows::{Readers, RealRows};
use crate::network::Dense;
use crate::trace::Reader;

/// What training changed of the losses −ln S(teacher(x)), of one lane, on rows of one teacher alone.
///
/// Differences from the first parameters: those of the networks' random starts would hide what is learned.
pub(super) fn own_row_losses(
    rows: &RealRows,
    seen: &[Vec<bool>],
    lane: usize,
    [first, trained]: [&[Dense]; 2],
    readers: &mut Readers,
) -> OwnRowLosses {
    let mut losses = OwnRowLosses::default();
    if trained.len() < 2 {
        return losses;
    }
    for row in 0..rows.len() {
        let mut owners = (0..seen.len()).filter(|teacher| seen[*teacher][row]);
        let (Some(own), None) = (owners.next(), owners.next()) else { continue };
        let x = rows.row(row as u32, Reader::Teachers, readers);
        let change = |(first, trained): (&Dense, &Dense)| {
            loss(trained.logit(lane, x)) - loss(first.logit(lane, x))
        };
        losses.add(&first.iter().zip(trained).map(change).collect::<Vec<f64>>(), own);
    }
    losses
}

/// Logistic loss, ln(1 + e^−x)
fn loss(logit: f64) -> f64 {
    (-logit).max(0.0) + math::ln_1p(math::exp(-logit.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::Lanes;

    /// A teacher with these weights in all lanes.
    fn teacher(weights: [f64; 2]) -> Dense {
        let mut teacher = Dense::new(2, 1, || Lanes::ZERO);
        teacher.parameters.iter_mut().zip(weights).for_each(|(to, weight)| {
            *to = Lanes::from_fn(|_| weight);
        });
        teacher
    }

    #[test]
    fn teachers_that_fit_their_own_rows_confirm_the_division_and_no_other() {
        let rows = 60;
        let own = |row: usize| row * 7 % 5 % 2;
        // rows of teacher 0 lie along the first axis, those of teacher 1 along the second
        let values = (0..rows).flat_map(|row| if own(row) == 0 { [1.0, 0.0] } else { [0.0, 1.0] });
        let rows_of_all = RealRows::new(2, values.collect());
        let first = [teacher([0.3, 0.1]), teacher([-0.4, 0.2])];
        let trained = [teacher([0.5, 0.1]), teacher([-0.4, 0.4])];
        let of = |division: &dyn Fn(usize) -> usize| {
            let seen: Vec<Vec<bool>> = (0..2)
                .map(|teacher| (0..rows).map(|row| division(row) == teacher).collect())
                .collect();
            let mut readers = Readers::default();
            own_row_losses(&rows_of_all, &seen, 2, [&first, &trained], &mut readers)
        };
        let found = of(&own);
        assert!(found.rows == 60 && found.sum < 0.0 && found.p_value() < 1e-9, "{found:?}");
        let other = of(&|row| row / 3 % 2);
        assert!(other.p_value() > 0.01, "{other:?}");
        // rows of both teachers, or of none, say nothing
        let mut readers = Readers::default();
        let both = vec![vec![true; rows]; 2];
        let all = own_row_losses(&rows_of_all, &both, 2, [&first, &trained], &mut readers);
        assert_eq!((all, readers.list()), (OwnRowLosses::default(), Vec::new()));
        assert!((loss(0.0) - std::f64::consts::LN_2).abs() < 1e-15 && loss(-800.0) == 800.0);
    }
}
