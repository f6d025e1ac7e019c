//! Optimisers, their steps and the adjoints of these.

use dpscope_core::math;

use crate::gradient::InstructionSet;
use crate::layers::Scalar;

/// Parameters and the moments of an optimiser; also the derivatives with respect to them.
#[derive(Debug, Clone, PartialEq)]
pub struct State<N> {
    /// Parameters θ.
    pub theta: Vec<N>,
    /// Velocity (momentum), or means of gradients and of their squares (Adam).
    pub moments: Vec<Vec<N>>,
}

impl<N: Scalar> State<N> {
    /// Parameters, with all moments 0.
    #[must_use]
    pub fn new(theta: Vec<N>, moments: usize) -> Self {
        let zeros = vec![N::from_f64(0.0); theta.len()];
        State { theta, moments: vec![zeros; moments] }
    }

    /// Replaces each parameter and its moments, where a missing moment is 0.
    fn update<T>(
        &mut self,
        items: impl Iterator<Item = T>,
        rule: impl Fn(N, [N; 2], T) -> (N, [N; 2]),
    ) {
        let (set, zero) = (InstructionSet::detect(), N::from_f64(0.0));
        let parameters = self.theta.iter_mut().zip(items);
        match &mut self.moments[..] {
            [] => set.for_each(parameters, |(theta, item)| {
                (*theta, _) = rule(*theta, [zero; 2], item);
            }),
            [first] => set.for_each(parameters.zip(first), |((theta, item), first)| {
                (*theta, [*first, _]) = rule(*theta, [*first, zero], item);
            }),
            [first, second, ..] => {
                let parameters = parameters.zip(first.iter_mut().zip(second));
                set.for_each(parameters, |((theta, item), (first, second))| {
                    (*theta, [*first, *second]) = rule(*theta, [*first, *second], item);
                });
            }
        }
    }
}

/// How a step changes parameters and moments. A rule treats all parameters alike, in any order.
pub trait UpdateRule<N>: Sync {
    /// Number of moments per parameter.
    fn moments(&self) -> usize;

    /// Whether [`Self::adjoint`] reads the state and gradient before the step.
    fn needs_gradient(&self) -> bool;

    /// Executes step `step` (from 0) with learning rate `rate`.
    fn step(&self, step: usize, rate: f64, state: &mut State<N>, gradient: &[N]);

    /// From the derivatives of φ with respect to the state after step `step`, computes those with
    /// respect to its gradient, `w`, and to the state before at a fixed gradient.
    ///
    /// `before` is the state before the step and its gradient; both may be empty unless
    /// [`Self::needs_gradient`].
    fn adjoint(
        &self,
        step: usize,
        rate: f64,
        before: (&State<N>, &[N]),
        adjoint: &mut State<N>,
        w: &mut [N],
    );
}

/// An optimiser. η is the learning rate, g the mean gradient, ω the weight decay.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Optimizer {
    /// v ← μv + g + ωθ; θ ← θ − ηv. Momentum 0 is SGD.
    Momentum {
        /// Momentum μ.
        momentum: f64,
        /// Weight decay ω.
        weight_decay: f64,
    },
    /// g′ = g + ωθ; v ← μv + g′; θ ← θ − η(g′ + μv).
    Nesterov {
        /// Momentum μ.
        momentum: f64,
        /// Weight decay ω.
        weight_decay: f64,
    },
    /// v ← μv + g; θ ← (1 − ηω)θ − ηv.
    DecoupledDecay {
        /// Momentum μ.
        momentum: f64,
        /// Weight decay ω.
        weight_decay: f64,
    },
    /// g′ = g + ωθ; θ ← θ − η·m̂ ÷ (√(ŝ + ϱ) + e), with m̂ and ŝ the bias-corrected means of g′ and
    /// g′².
    Adam {
        /// Decay β₁ of the mean of g′.
        beta1: f64,
        /// Decay β₂ of the mean of g′².
        beta2: f64,
        /// Constant e, outside the root.
        epsilon: f64,
        /// Constant ϱ, inside the root; above 0, because the root has no derivative at 0.
        epsilon_root: f64,
        /// Weight decay ω.
        weight_decay: f64,
    },
}

/// Steps of Adam at one parameter.
struct AdamStep<N> {
    /// 1 − β₁ᵗ and 1 − β₂ᵗ.
    corrections: [N; 2],
    /// r = √(ŝ + ϱ) and D = r + e.
    root: N,
    divisor: N,
    first: N,
    second: N,
}

impl Optimizer {
    /// SGD without momentum and weight decay.
    pub const SGD: Optimizer = Optimizer::Momentum { momentum: 0.0, weight_decay: 0.0 };

    /// The name and value of the first setting outside its domain, and the domain.
    #[must_use]
    pub fn first_invalid(&self) -> Option<(&'static str, f64, &'static str)> {
        let share =
            |name, value: f64| (!(0.0..1.0).contains(&value)).then_some((name, value, "in [0, 1)"));
        let decay = |value: f64| {
            (!(0.0..=1.0).contains(&value)).then_some(("weight_decay", value, "in [0, 1]"))
        };
        match *self {
            Optimizer::Momentum { momentum, weight_decay }
            | Optimizer::Nesterov { momentum, weight_decay }
            | Optimizer::DecoupledDecay { momentum, weight_decay } => {
                share("momentum", momentum).or(decay(weight_decay))
            }
            Optimizer::Adam { beta1, beta2, epsilon, epsilon_root, weight_decay } => {
                let root = !(1e-30..=1.0).contains(&epsilon_root);
                let outside = !(0.0..=1.0).contains(&epsilon);
                share("beta1", beta1)
                    .or(share("beta2", beta2))
                    .or(outside.then_some(("epsilon", epsilon, "in [0, 1]")))
                    .or(root.then_some(("epsilon_root", epsilon_root, "in [1e-30, 1]")))
                    .or(decay(weight_decay))
            }
        }
    }

    fn momentum(&self) -> f64 {
        match *self {
            Optimizer::Momentum { momentum, .. }
            | Optimizer::Nesterov { momentum, .. }
            | Optimizer::DecoupledDecay { momentum, .. } => momentum,
            Optimizer::Adam { .. } => 0.0,
        }
    }

    /// The means after a step, from those before it and the gradient g′.
    fn adam<N: Scalar>(&self, step: usize, [m, s]: [N; 2], gradient: N) -> AdamStep<N> {
        let Optimizer::Adam { beta1, beta2, epsilon, epsilon_root, .. } = *self else {
            let (zero, one) = (N::from_f64(0.0), N::from_f64(1.0));
            let corrections = [one; 2];
            return AdamStep { corrections, root: one, divisor: one, first: zero, second: zero };
        };
        let count = i32::try_from(step + 1).unwrap_or(i32::MAX);
        let corrections = [beta1, beta2].map(|beta| N::from_f64(1.0 - math::powi(beta, count)));
        let mean = |beta: f64, before: N, new: N| {
            N::from_f64(beta) * before + N::from_f64(1.0 - beta) * new
        };
        let (first, second) = (mean(beta1, m, gradient), mean(beta2, s, gradient * gradient));
        let root = (second / corrections[1] + N::from_f64(epsilon_root)).sqrt();
        let divisor = root + N::from_f64(epsilon);
        AdamStep { corrections, root, divisor, first, second }
    }
}

impl<N: Scalar> UpdateRule<N> for Optimizer {
    fn moments(&self) -> usize {
        match self {
            Optimizer::Adam { .. } => 2,
            _ => usize::from(self.momentum() != 0.0),
        }
    }

    fn needs_gradient(&self) -> bool {
        matches!(self, Optimizer::Adam { .. })
    }

    fn step(&self, step: usize, rate: f64, state: &mut State<N>, gradient: &[N]) {
        let number = N::from_f64;
        let (eta, momentum, gradient) = (number(rate), number(self.momentum()), gradient.iter());
        match *self {
            Optimizer::Momentum { weight_decay, .. } => {
                let weight_decay = number(weight_decay);
                state.update(gradient, |theta, [v, s], &g| {
                    let v = momentum * v + g + weight_decay * theta;
                    (theta - eta * v, [v, s])
                });
            }
            Optimizer::Nesterov { weight_decay, .. } => {
                let weight_decay = number(weight_decay);
                state.update(gradient, |theta, [v, s], &g| {
                    let g = g + weight_decay * theta;
                    let v = momentum * v + g;
                    (theta - eta * (g + momentum * v), [v, s])
                });
            }
            Optimizer::DecoupledDecay { weight_decay, .. } => {
                let kept = number(1.0 - rate * weight_decay);
                state.update(gradient, |theta, [v, s], &g| {
                    let v = momentum * v + g;
                    (kept * theta - eta * v, [v, s])
                });
            }
            Optimizer::Adam { weight_decay, .. } => {
                state.update(gradient, |theta, means, &g| {
                    let after = self.adam(step, means, g + number(weight_decay) * theta);
                    let mean = after.first / after.corrections[0];
                    (theta - eta * mean / after.divisor, [after.first, after.second])
                });
            }
        }
    }

    fn adjoint(
        &self,
        step: usize,
        rate: f64,
        before: (&State<N>, &[N]),
        adjoint: &mut State<N>,
        w: &mut [N],
    ) {
        let number = N::from_f64;
        let ((state, gradient), eta) = (before, number(rate));
        let momentum = number(self.momentum());
        match *self {
            Optimizer::Momentum { weight_decay, .. } => {
                let weight_decay = number(weight_decay);
                adjoint.update(w.iter_mut(), |lambda, [nu, nu_s], w| {
                    *w = nu - eta * lambda;
                    (lambda + weight_decay * *w, [momentum * *w, nu_s])
                });
            }
            Optimizer::Nesterov { weight_decay, .. } => {
                let weight_decay = number(weight_decay);
                adjoint.update(w.iter_mut(), |lambda, [nu, nu_s], w| {
                    let a = nu - eta * momentum * lambda;
                    *w = a - eta * lambda;
                    (lambda + weight_decay * *w, [momentum * a, nu_s])
                });
            }
            Optimizer::DecoupledDecay { weight_decay, .. } => {
                let kept = number(1.0 - rate * weight_decay);
                adjoint.update(w.iter_mut(), |lambda, [nu, nu_s], w| {
                    *w = nu - eta * lambda;
                    (kept * lambda, [momentum * *w, nu_s])
                });
            }
            Optimizer::Adam { beta1, beta2, weight_decay, .. } => {
                adjoint.update(w.iter_mut().enumerate(), |lambda, [nu, nu_s], (at, w)| {
                    let g = gradient[at] + number(weight_decay) * state.theta[at];
                    let means = [state.moments[0][at], state.moments[1][at]];
                    let after = self.adam(step, means, g);
                    let ([c1, c2], d) = (after.corrections, after.divisor);
                    let through_root = number(2.0) * d * d * after.root * c2;
                    let a = nu - eta * lambda / (c1 * d);
                    let b = nu_s + eta * (after.first / c1) * lambda / through_root;
                    *w = number(1.0 - beta1) * a + number(2.0 * (1.0 - beta2)) * g * b;
                    let moments = [number(beta1) * a, number(beta2) * b];
                    (lambda + number(weight_decay) * *w, moments)
                });
            }
        }
    }
}
