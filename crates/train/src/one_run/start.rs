//! Parameters before the first private step.

use dpscope_core::random::{Purpose, Words};

use super::settings::PreTraining;
use super::training::OneRunTraining;
use crate::canary::SHARED_STREAM;
use crate::gradient::{Rows, Workspace};

impl OneRunTraining {
    /// Parameters θ₀ of all runs, after a pre-training if there is one; `None` if `keep_going` returned
    /// false.
    pub(crate) fn start(&self, keep_going: &dyn Fn() -> bool) -> Option<&[f32]> {
        if let Some(found) = self.start.get() {
            return Some(found);
        }
        let computed = match self.settings.pre_training {
            Some(pre_training) => self.pre_train(pre_training, keep_going)?,
            None => self.initial.clone(),
        };
        Some(self.start.get_or_init(|| computed))
    }

    /// Parameters θ₀ after [`start`](Self::start); empty before it.
    #[cfg(feature = "gpu")]
    pub(crate) fn started(&self) -> &[f32] {
        self.start.get().map_or(&[], Vec::as_slice)
    }

    /// Trains without clipping and noise on the records after the base records.
    fn pre_train(&self, settings: PreTraining, keep_going: &dyn Fn() -> bool) -> Option<Vec<f32>> {
        let PreTraining { records, epochs, learning_rate } = settings;
        let first = self.base_records();
        let mut order: Vec<u32> = (first..first + records).collect();
        let mut words = Words::new(self.seed, Purpose::TrainOrder, SHARED_STREAM);
        let mut work = Workspace::new(&self.network, self.batch_size as usize);
        let mut parameters = self.initial.clone();
        let mut velocity = vec![0.0; parameters.len()];
        let mut sum = vec![0.0; parameters.len()];
        let (mut rows, mut labels, mut norms) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..epochs {
            words.shuffle(&mut order);
            for members in order.chunks_exact(self.batch_size as usize) {
                if !keep_going() {
                    return None;
                }
                self.base.fill(members, &mut rows, &mut labels);
                let rows = Rows { examples: &rows, labels: &labels };
                // no gradient is as long
                let clip_norm = f32::MAX / 4.0;
                let (work, norms) = (&mut work, &mut norms);
                self.network.clipped_sum(&parameters, rows, clip_norm, work, &mut sum, norms);
                let rate = learning_rate / f64::from(self.batch_size);
                descend(&mut parameters, &mut velocity, &sum, (rate, self.settings.momentum));
            }
        }
        Some(parameters)
    }
}

/// A step of gradient descent with momentum: v ← μv + g, θ ← θ − ηv.
pub(super) fn descend(
    parameters: &mut [f32],
    velocity: &mut [f32],
    sum: &[f32],
    (rate, momentum): (f64, f64),
) {
    let (rate, momentum) = (rate as f32, momentum as f32);
    for ((parameter, velocity), sum) in parameters.iter_mut().zip(velocity).zip(sum) {
        *velocity = momentum * *velocity + sum;
        *parameter -= rate * *velocity;
    }
}
