//! Optimisers, their steps and the adjoints of these.

use dpscope_core::math;

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
}

/// How a step changes parameters and moments.
pub trait UpdateRule<N>: Sync {
    /// Number of moments per parameter.
    fn moments(&self) -> usize;

    /// Whether [`Self::adjoint`] reads the gradient.
    fn needs_gradient(&self) -> bool;

    /// Executes step `step` (from 0) with learning rate `rate`.
    fn step(&self, step: usize, rate: f64, state: &mut State<N>, gradient: &[N]);

    /// From the derivatives of φ with respect to the state after step `step`, computes those with
    /// respect to its gradient, `w`, and to the state before at a fixed gradient.
    ///
    /// `before` is the state before the step and its gradient, which is empty unless
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
        /// β₁.
        beta1: f64,
        /// β₂.
        beta2: f64,
        /// e, outside the root.
        epsilon: f64,
        /// ϱ, inside the root; above 0, because the root has no derivative at 0.
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
        let (eta, momentum) = (number(rate), number(self.momentum()));
        for (at, &g) in gradient.iter().enumerate() {
            let (theta, [mut v, mut s]) = (state.theta[at], moments_at(&state.moments, at));
            state.theta[at] = match *self {
                Optimizer::Momentum { weight_decay, .. } => {
                    v = momentum * v + g + number(weight_decay) * theta;
                    theta - eta * v
                }
                Optimizer::Nesterov { weight_decay, .. } => {
                    let g = g + number(weight_decay) * theta;
                    v = momentum * v + g;
                    theta - eta * (g + momentum * v)
                }
                Optimizer::DecoupledDecay { weight_decay, .. } => {
                    v = momentum * v + g;
                    number(1.0 - rate * weight_decay) * theta - eta * v
                }
                Optimizer::Adam { weight_decay, .. } => {
                    let after = self.adam(step, [v, s], g + number(weight_decay) * theta);
                    (v, s) = (after.first, after.second);
                    theta - eta * (v / after.corrections[0]) / after.divisor
                }
            };
            set_moments(&mut state.moments, at, [v, s]);
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
        for (at, w) in w.iter_mut().enumerate() {
            let (lambda, [mut nu, mut nu_s]) =
                (adjoint.theta[at], moments_at(&adjoint.moments, at));
            adjoint.theta[at] = match *self {
                Optimizer::Momentum { weight_decay, .. } => {
                    *w = nu - eta * lambda;
                    nu = momentum * *w;
                    lambda + number(weight_decay) * *w
                }
                Optimizer::Nesterov { weight_decay, .. } => {
                    let a = nu - eta * momentum * lambda;
                    *w = a - eta * lambda;
                    nu = momentum * a;
                    lambda + number(weight_decay) * *w
                }
                Optimizer::DecoupledDecay { weight_decay, .. } => {
                    *w = nu - eta * lambda;
                    nu = momentum * *w;
                    number(1.0 - rate * weight_decay) * lambda
                }
                Optimizer::Adam { beta1, beta2, weight_decay, .. } => {
                    let g = gradient[at] + number(weight_decay) * state.theta[at];
                    let after = self.adam(step, moments_at(&state.moments, at), g);
                    let ([c1, c2], d) = (after.corrections, after.divisor);
                    let through_root = number(2.0) * d * d * after.root * c2;
                    let a = nu - eta * lambda / (c1 * d);
                    let b = nu_s + eta * (after.first / c1) * lambda / through_root;
                    *w = number(1.0 - beta1) * a + number(2.0 * (1.0 - beta2)) * g * b;
                    (nu, nu_s) = (number(beta1) * a, number(beta2) * b);
                    lambda + number(weight_decay) * *w
                }
            };
            set_moments(&mut adjoint.moments, at, [nu, nu_s]);
        }
    }
}

/// The moments of a parameter; 0 where there is none.
fn moments_at<N: Scalar>(moments: &[Vec<N>], at: usize) -> [N; 2] {
    [0, 1].map(|index| moments.get(index).map_or(N::from_f64(0.0), |moment| moment[at]))
}

fn set_moments<N: Scalar>(moments: &mut [Vec<N>], at: usize, values: [N; 2]) {
    moments.iter_mut().zip(values).for_each(|(moment, value)| moment[at] = value);
}
