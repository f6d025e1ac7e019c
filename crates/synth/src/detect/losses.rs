//! M2: losses of teachers on their own rows.

use dpscope_core::audit::generator::OwnRowLosses;

use super::check::{Check, Observation};
use crate::fault::Detector;
use crate::trace::Trace;

/// M2: whether each teacher learned its own rows better than the others did. It never reports a fault: that
/// chance hides it proves nothing.
pub(super) fn own_rows(runs: &[&Trace], level: f64) -> Check {
    let mut losses = OwnRowLosses::default();
    runs.iter().for_each(|run| losses.join(&run.own_losses));
    let p_value = losses.p_value();
    let observation = match () {
        () if losses.rows == 0 => {
            Observation::Untestable { reason: "no row belongs to one teacher alone" }
        }
        () if p_value <= level => {
            let gain = -losses.sum / losses.rows as f64;
            Observation::Confirmed {
                seen: format!(
                    "training lowers the loss on a row by {gain:.2e} more for its own teacher than for \
                     the others, as a division of rows makes it"
                ),
            }
        }
        () => Observation::Untestable {
            reason: "the losses are within what chance gives, and do not confirm the division of rows",
        },
    };
    Check {
        detector: Detector::TeacherLosses,
        name: "losses on own rows",
        observation,
        p_value: Some(p_value),
        remedy: "",
    }
}
