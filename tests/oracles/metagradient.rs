//! Derivatives of trainings with respect to their canaries, beside automatic differentiation, and
//! recursions with one mistake.

use std::path::Path;

use dpscope_tests::golden::{
    Answer, Finding, Library, MetagradientProblem, Outcome, Real, Tally, evaluate_file,
};
use dpscope_train::Network;
use dpscope_train::metagradient::{
    Augmentation, BatchRows, Derivatives, Metagradient, Optimizer, Record, ReferenceDerivatives,
    State, UpdateRule,
};

fn findings(library: &dyn Library) -> Vec<Finding> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/oracles/data/metagradient.json");
    evaluate_file(Path::new(path), library).expect("the file is well-formed")
}

#[test]
fn metagradients_agree() {
    let findings = findings(&Real);
    let is_wrong = |found: &&Finding| found.outcome != Outcome::Passed;
    let wrong: Vec<&Finding> = findings.iter().filter(is_wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(Tally::of(&findings), Tally { passed: 289, failed: 0, skipped: 0 });
}

/// A mistake in the recursion.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mistake {
    WithoutDirectPart,
    DirectPartAlone,
    /// Derivatives at θ_{t+1} instead of θ_t.
    NextParameters,
    /// ν ← μλ instead of μw.
    VelocityFromLambda,
    /// The augmentation is not transposed: A is applied first, and AᵀA is 1 for a flip.
    WithoutTranspose,
    WithoutDecay,
    SumForMean,
    SecondOccurrenceLost,
    NesterovAsMomentum,
    ClippingWithoutProjection,
}

/// Derivatives of a model with a mistake.
struct BrokenDerivatives<'a> {
    inner: ReferenceDerivatives<'a>,
    problem: &'a MetagradientProblem,
    mistake: Mistake,
    /// Parameters of the call before.
    next: Vec<f64>,
    /// Number of steps still to be visited.
    steps: usize,
}

impl BrokenDerivatives<'_> {
    fn inputs(&self) -> usize {
        self.problem.network.inputs()
    }

    /// The derivative of clipped gradients without the part along each gradient.
    fn without_projection(
        &mut self,
        (theta, w): (&[f64], &[f64]),
        batch: BatchRows<'_, f64>,
        clip_norm: f64,
        out: &mut [f64],
        cross: &mut [f64],
    ) {
        let (inputs, count) = (self.inputs(), theta.len());
        out.fill(0.0);
        let rows = batch.examples.chunks_exact(inputs).zip(batch.labels.chunks(1));
        for (row, (examples, labels)) in rows.enumerate() {
            let one = BatchRows { examples, sparse: &[], labels, canaries: 1 };
            let (mut gradient, mut product) = (vec![0.0; count], vec![0.0; count]);
            self.inner.gradient(theta, one, None, &mut gradient);
            let norm = gradient.iter().map(|value| value * value).sum::<f64>().sqrt();
            let factor = (clip_norm / norm).min(1.0);
            let w: Vec<f64> = w.iter().map(|value| factor * value).collect();
            let mut slopes = vec![0.0; inputs];
            self.inner.product(theta, &w, one, None, &mut product, &mut slopes);
            out.iter_mut().zip(&product).for_each(|(out, value)| *out += value);
            if row < batch.canaries {
                cross[row * inputs..][..inputs].copy_from_slice(&slopes);
            }
        }
    }
}

impl Derivatives for BrokenDerivatives<'_> {
    type Number = f64;

    fn network(&self) -> &Network {
        self.inner.network()
    }

    fn gradient(
        &mut self,
        theta: &[f64],
        batch: BatchRows<'_, f64>,
        clip_norm: Option<f64>,
        out: &mut [f64],
    ) {
        self.inner.gradient(theta, batch, clip_norm, out);
    }

    fn product(
        &mut self,
        theta: &[f64],
        w: &[f64],
        batch: BatchRows<'_, f64>,
        clip_norm: Option<f64>,
        out: &mut [f64],
        cross: &mut [f64],
    ) {
        self.steps -= 1;
        let next = std::mem::replace(&mut self.next, theta.to_vec());
        let theta = if self.mistake == Mistake::NextParameters { &next[..] } else { theta };
        if let (Mistake::ClippingWithoutProjection, Some(norm)) = (self.mistake, clip_norm) {
            return self.without_projection((theta, w), batch, norm, out, cross);
        }
        self.inner.product(theta, w, batch, clip_norm, out, cross);
        let inputs = self.inputs();
        match self.mistake {
            Mistake::SumForMean => {
                let size = batch.labels.len() as f64;
                out.iter_mut().chain(cross).for_each(|value| *value *= size);
            }
            Mistake::SecondOccurrenceLost => {
                let row = |at: usize| &batch.examples[at * inputs..][..inputs];
                for later in (0..batch.canaries).filter(|&at| (0..at).any(|e| row(e) == row(at))) {
                    cross[later * inputs..][..inputs].fill(0.0);
                }
            }
            Mistake::WithoutTranspose => {
                let rows = self.problem.batches[self.steps].iter();
                let canaries = rows.filter(|row| matches!(row.record, Record::Canary(_)));
                for (cross, row) in cross.chunks_exact_mut(inputs).zip(canaries) {
                    let before = cross.to_vec();
                    let augmentation: Augmentation = row.augmentation.unwrap_or_default();
                    augmentation.apply(self.problem.network.input(), &before, cross);
                }
            }
            _ => {}
        }
    }

    fn objective(
        &mut self,
        theta: &[f64],
        batch: BatchRows<'_, f64>,
        weights: &[f64],
        out: &mut [f64],
        direct: &mut [f64],
    ) -> f64 {
        self.next = theta.to_vec();
        self.inner.objective(theta, batch, weights, out, direct)
    }
}

/// An optimiser whose adjoint is that of another.
struct BrokenRule {
    rule: Optimizer,
    adjoint: Optimizer,
    velocity_from_lambda: bool,
}

impl BrokenRule {
    fn new(rule: Optimizer, mistake: Mistake) -> Self {
        let mut adjoint = rule;
        match (mistake, &mut adjoint) {
            (Mistake::NesterovAsMomentum, &mut Optimizer::Nesterov { momentum, weight_decay }) => {
                adjoint = Optimizer::Momentum { momentum, weight_decay };
            }
            (
                Mistake::WithoutDecay,
                Optimizer::Momentum { weight_decay, .. }
                | Optimizer::Nesterov { weight_decay, .. }
                | Optimizer::DecoupledDecay { weight_decay, .. }
                | Optimizer::Adam { weight_decay, .. },
            ) => *weight_decay = 0.0,
            _ => {}
        }
        let velocity_from_lambda = mistake == Mistake::VelocityFromLambda;
        BrokenRule { rule, adjoint, velocity_from_lambda }
    }
}

impl UpdateRule<f64> for BrokenRule {
    fn moments(&self) -> usize {
        UpdateRule::<f64>::moments(&self.rule)
    }

    fn needs_gradient(&self) -> bool {
        UpdateRule::<f64>::needs_gradient(&self.rule)
    }

    fn step(&self, step: usize, rate: f64, state: &mut State<f64>, gradient: &[f64]) {
        self.rule.step(step, rate, state, gradient);
    }

    fn adjoint(
        &self,
        step: usize,
        rate: f64,
        before: (&State<f64>, &[f64]),
        adjoint: &mut State<f64>,
        w: &mut [f64],
    ) {
        let lambda = adjoint.theta.clone();
        self.adjoint.adjoint(step, rate, before, adjoint, w);
        if let (true, Optimizer::Momentum { momentum, .. }, Some(nu)) =
            (self.velocity_from_lambda, self.rule, adjoint.moments.first_mut())
        {
            nu.iter_mut().zip(lambda).for_each(|(nu, lambda)| *nu = momentum * lambda);
        }
    }
}

struct Broken(Mistake);

impl Library for Broken {
    fn metagradient(&self, problem: &MetagradientProblem) -> Answer<Metagradient<f64>> {
        let mut derivatives = BrokenDerivatives {
            inner: problem.reference(),
            problem,
            mistake: self.0,
            next: Vec::new(),
            steps: problem.batches.len(),
        };
        let rule = BrokenRule::new(problem.optimizer, self.0);
        let mut found = problem.solve(&mut derivatives, &rule)?;
        let parts = found.gradient.iter_mut().zip(&found.direct);
        match self.0 {
            Mistake::WithoutDirectPart => parts.for_each(|(value, direct)| *value -= direct),
            Mistake::DirectPartAlone => parts.for_each(|(value, direct)| *value = *direct),
            _ => {}
        }
        Ok(found)
    }
}

#[test]
fn broken_recursions_are_rejected() {
    let all_but = |passing: &[usize]| -> Vec<usize> {
        (1..=18).filter(|case| !passing.contains(case)).collect()
    };
    for (mistake, expected) in [
        (Mistake::WithoutDirectPart, all_but(&[])),
        (Mistake::DirectPartAlone, all_but(&[1])),
        (Mistake::NextParameters, all_but(&[1])),
        (Mistake::VelocityFromLambda, vec![4, 5, 6, 10, 11, 12, 14, 15, 17]),
        (Mistake::WithoutTranspose, vec![15]),
        (Mistake::WithoutDecay, vec![5, 7, 8, 9, 10, 15]),
        (Mistake::SumForMean, all_but(&[1])),
        (Mistake::SecondOccurrenceLost, vec![12]),
        (Mistake::NesterovAsMomentum, vec![7]),
        (Mistake::ClippingWithoutProjection, vec![17, 18]),
    ] {
        let findings = findings(&Broken(mistake));
        let is_rejected = |case: &usize| {
            let id = format!("metagradient-{case:02}");
            let mut found = findings.iter().filter(|found| found.case == id);
            found.any(|found| {
                found.value == "metagradient" && matches!(found.outcome, Outcome::Failed(_))
            })
        };
        let rejected: Vec<usize> = (1..=18).filter(is_rejected).collect();
        assert_eq!(rejected, expected, "{mistake:?}");
    }
}
