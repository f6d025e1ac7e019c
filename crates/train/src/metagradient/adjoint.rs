//! The adjoint recursion.

use std::mem::take;

use super::checkpointing::{Checkpointing, Cost, Reversible};
use super::derivatives::Derivatives;
use super::optimizer::State;
use super::training::{InnerTraining, Interruption, LoadedBatch};
use crate::gradient::{BatchRows, Buffer, InstructionSet, SLACK, gap};
use crate::layers::Scalar;

/// The objective of a training and its derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct Metagradient<N> {
    /// φ = Σ_i weight_i · ℓ(θ_T, c_i).
    pub objective: N,
    /// dφ/dc, canary by canary.
    pub gradient: Vec<N>,
    /// Its part at fixed θ_T.
    pub direct: Vec<N>,
    /// Parameters θ_T.
    pub parameters: Vec<N>,
    /// Gradient with respect to the initial parameters, dφ/dθ₀.
    pub initial_gradient: Vec<N>,
    /// What the reversal cost.
    pub cost: Cost,
}

/// The state of the recursion.
struct Recursion<'a, 'b, N, D: ?Sized> {
    training: &'a InnerTraining<'b, N>,
    derivatives: &'a mut D,
    canaries: &'a [N],
    batch: LoadedBatch<'b, N>,
    /// Derivatives of φ with respect to the state.
    adjoint: State<N>,
    gradient: Buffer<N>,
    w: Buffer<N>,
    product: Buffer<N>,
    cross: Vec<N>,
    /// Parameters of saved states whose moments are not read again, aligned to cache lines. One piece of
    /// memory, which an allocator reuses for the next metagradient.
    saved: Vec<N>,
    /// In place of the moments, what their products need not compute again.
    kept: Vec<N>,
    /// Where each of them starts.
    starts: Vec<[usize; 2]>,
    /// Whether the state of the next step is the last of them.
    keeps: bool,
    result: Metagradient<N>,
}

impl<N: Scalar> InnerTraining<'_, N> {
    /// The objective and its derivative with respect to the canaries.
    ///
    /// | argument | meaning | shape |
    /// |---|---|---|
    /// | `derivatives` | of the network | – |
    /// | `canaries` | features | `inputs()` per canary |
    /// | `checkpointing` | which states are saved; does not change the result | – |
    ///
    /// # Errors
    /// Diverged or cancelled.
    pub fn metagradient<D: Derivatives<Number = N> + ?Sized>(
        &self,
        derivatives: &mut D,
        canaries: &[N],
        checkpointing: Checkpointing,
    ) -> Result<Metagradient<N>, Interruption> {
        // noise and clipping know one order only
        let is_free = self.clip_norm.is_none() && self.noise.is_none();
        let order = is_free.then(|| derivatives.order_by_input(true)).flatten();
        let Some([inputs, outputs]) = order else {
            return self.differentiate(derivatives, canaries, checkpointing);
        };
        let initial = &transposed(self.initial, [outputs, inputs])[..];
        let training = InnerTraining { initial, ..*self };
        let result = training.differentiate(derivatives, canaries, checkpointing);
        derivatives.order_by_input(false);
        let result = result?;
        let [parameters, initial_gradient] = [&result.parameters, &result.initial_gradient]
            .map(|values| transposed(values, [inputs, outputs]));
        Ok(Metagradient { parameters, initial_gradient, ..result })
    }

    /// [`Self::metagradient`] in the order of the derivatives.
    fn differentiate<D: Derivatives<Number = N> + ?Sized>(
        &self,
        derivatives: &mut D,
        canaries: &[N],
        checkpointing: Checkpointing,
    ) -> Result<Metagradient<N>, Interruption> {
        let zeros = |count: usize| vec![N::from_f64(0.0); count];
        let parameters = self.initial.len();
        let buffer = || Buffer::filled(N::from_f64(0.0), parameters);
        let result = Metagradient {
            objective: N::from_f64(0.0),
            gradient: zeros(canaries.len()),
            direct: zeros(canaries.len()),
            parameters: Vec::new(),
            initial_gradient: Vec::new(),
            cost: Cost::default(),
        };
        let mut recursion = Recursion {
            training: self,
            derivatives,
            canaries,
            batch: LoadedBatch::default(),
            adjoint: State::new(zeros(parameters), self.rule.moments()),
            gradient: buffer(),
            w: buffer(),
            product: buffer(),
            cross: Vec::new(),
            saved: Vec::new(),
            kept: Vec::new(),
            starts: Vec::new(),
            keeps: false,
            result,
        };
        if checkpointing == Checkpointing::StoreAll {
            let kept = |batch: &Vec<_>| recursion.kept_numbers(batch.len());
            let numbers = self.batches.iter().map(kept).sum();
            recursion.kept.reserve(numbers);
            recursion.saved.reserve(self.batches.len() * (parameters + SLACK));
        }
        let (steps, first) = (self.batches.len(), self.first_state());
        let cost = checkpointing.reverse(&mut recursion, steps, first)?;
        let Recursion { adjoint, mut result, .. } = recursion;
        (result.initial_gradient, result.cost) = (adjoint.theta, cost);
        let is_finite = |values: &[N]| values.iter().all(|value| value.to_f64().is_finite());
        if is_finite(&result.gradient) { Ok(result) } else { Err(Interruption::Diverged) }
    }
}

/// Values that start with a matrix, which is transposed.
fn transposed<N: Copy>(values: &[N], [rows, columns]: [usize; 2]) -> Vec<N> {
    let entry = |at: usize| values[at % rows * columns + at / rows];
    let matrix = (0..rows * columns).map(entry);
    matrix.chain(values[rows * columns..].iter().copied()).collect()
}

impl<N: Scalar, D: Derivatives<Number = N> + ?Sized> Recursion<'_, '_, N, D> {
    fn load(&mut self, step: usize) -> Result<(), Interruption> {
        if !(self.training.keep_going)() {
            return Err(Interruption::Cancelled);
        }
        self.batch.load(self.training, self.derivatives, step, self.canaries);
        Ok(())
    }

    fn mean_gradient(&mut self, step: usize, theta: &[N]) {
        let rows = self.batch.rows();
        let is_saved = take(&mut self.keeps);
        let theta = match self.starts.last() {
            Some([start, _]) if is_saved => &self.saved[*start..][..theta.len()],
            _ => theta,
        };
        let keeps = is_saved && self.kept_numbers(rows.labels.len()) > 0;
        let (kept, out) = (keeps.then_some(&mut self.kept), self.gradient.floats_mut());
        self.training.gradient(self.derivatives, (step, theta), rows, out, kept);
    }

    /// Numbers kept for a batch of `rows` rows; 0 if they take more memory than the moments.
    fn kept_numbers(&self, rows: usize) -> usize {
        let InnerTraining { rule, initial, clip_norm, .. } = *self.training;
        let most = if clip_norm.is_some() { 0 } else { initial.len() * rule.moments() };
        let numbers = rows * self.derivatives.kept_per_row();
        if numbers <= most { numbers } else { 0 }
    }

    /// Visits the state before a step: its parameters, itself if the adjoint reads moments, and what
    /// was kept of its gradient.
    fn visit_at(
        &mut self,
        step: usize,
        (theta, state): (&[N], &State<N>),
        kept: &[N],
    ) -> Result<(), Interruption> {
        self.load(step)?;
        let InnerTraining { rule, learning_rates, clip_norm, .. } = *self.training;
        let gradient = if rule.needs_gradient() {
            self.mean_gradient(step, theta);
            self.gradient.floats()
        } else {
            &[]
        };
        let w = self.w.floats_mut();
        rule.adjoint(step, learning_rates[step], (state, gradient), &mut self.adjoint, w);
        let (rows, inputs) = (self.batch.rows(), self.derivatives.network().inputs());
        self.cross.clear();
        self.cross.resize(rows.canaries * inputs, N::from_f64(0.0));
        let (w, product, cross) = (self.w.floats(), self.product.floats_mut(), &mut self.cross);
        if kept.is_empty() {
            self.derivatives.product(theta, w, rows, clip_norm, product, cross);
        } else {
            self.derivatives.product_of_kept((theta, w), rows, kept, product, cross);
        }
        let share = N::from_f64(1.0) / N::from_f64(rows.labels.len() as f64);
        let lambdas = self.adjoint.theta.iter_mut().zip(self.product.floats());
        let set = InstructionSet::detect();
        set.for_each(lambdas, |(lambda, &product)| *lambda += product * share);
        let shape = self.derivatives.network().input();
        let rows = self.cross.chunks_exact(inputs).zip(&self.batch.canaries);
        for (cross, &(canary, augmentation)) in rows {
            let out = &mut self.result.gradient[canary * inputs..][..inputs];
            match augmentation {
                Some(augmentation) => augmentation.add_transposed(shape, cross, share, out),
                None => {
                    set.for_each(out.iter_mut().zip(cross), |(out, &cross)| *out += share * cross);
                }
            }
        }
        Ok(())
    }
}

impl<N: Scalar, D: Derivatives<Number = N> + ?Sized> Reversible for Recursion<'_, '_, N, D> {
    type State = State<N>;
    type Error = Interruption;

    fn save(&mut self, state: &mut State<N>) -> State<N> {
        if self.training.rule.needs_gradient() {
            return state.clone();
        }
        let start = self.saved.len() + gap(&self.saved[self.saved.len()..]);
        self.saved.resize(start, N::from_f64(0.0));
        self.starts.push([start, self.kept.len()]);
        self.saved.extend_from_slice(&state.theta);
        self.keeps = true;
        State { theta: take(&mut state.theta), moments: take(&mut state.moments) }
    }

    fn advance(&mut self, step: usize, state: &mut State<N>) -> Result<(), Interruption> {
        self.load(step)?;
        self.mean_gradient(step, &state.theta);
        let rate = self.training.learning_rates[step];
        self.training.rule.step(step, rate, state, self.gradient.floats());
        Ok(())
    }

    fn finish(&mut self, state: &State<N>) -> Result<(), Interruption> {
        let InnerTraining { labels, weights, .. } = *self.training;
        let batch =
            BatchRows { examples: self.canaries, sparse: &[], labels, canaries: labels.len() };
        let result = &mut self.result;
        let lambda = &mut self.adjoint.theta;
        result.objective =
            self.derivatives.objective(&state.theta, batch, weights, lambda, &mut result.direct);
        result.gradient.copy_from_slice(&result.direct);
        result.parameters.clone_from(&state.theta);
        if result.objective.to_f64().is_finite() { Ok(()) } else { Err(Interruption::Diverged) }
    }

    fn visit(&mut self, step: usize, state: &State<N>) -> Result<(), Interruption> {
        if !state.theta.is_empty() {
            return self.visit_at(step, (&state.theta, state), &[]);
        }
        let [start, start_of_kept] = self.starts.pop().unwrap_or_default();
        let (mut saved, mut kept) = (take(&mut self.saved), take(&mut self.kept));
        // behind them is the gap before the next state
        let theta = &saved[start..][..self.training.initial.len()];
        let result = self.visit_at(step, (theta, state), &kept[start_of_kept..]);
        saved.truncate(start);
        kept.truncate(start_of_kept);
        (self.saved, self.kept) = (saved, kept);
        result
    }
}
