//! Mechanisms of libraries whose noise is correlated between steps: DP-FTRL and its successors.

use super::call::Call;

/// A library's mechanism with correlated noise, whose privacy loss is not that of DP-SGD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CorrelatedNoise {
    /// The name, as in code.
    pub name: &'static str,
    /// The ends of paths that call it, in lower case.
    paths: &'static [&'static str],
    /// The strategy matrix, if the name determines it.
    pub strategy: Option<&'static str>,
    /// The pattern of participation, if the library prescribes one.
    pub participation: Option<&'static str>,
}

/// TensorFlow Privacy 0.9, TensorFlow Federated 0.87 and jax-privacy 2.0.
pub(super) const CORRELATED_NOISE: &[CorrelatedNoise] = &[
    CorrelatedNoise {
        name: "tf_privacy.DPFTRLTreeAggregationOptimizer",
        paths: &[
            "dpftrltreeaggregationoptimizer",
            "treeresidualsumquery",
            "treecumulativesumquery",
        ],
        strategy: Some("tree"),
        participation: None,
    },
    CorrelatedNoise {
        name: "tff.aggregators.DifferentiallyPrivateFactory.tree_aggregation",
        paths: &[
            "differentiallyprivatefactory.tree_aggregation",
            "differentiallyprivatefactory.tree_adaptive",
        ],
        strategy: Some("tree"),
        participation: None,
    },
    CorrelatedNoise {
        name: "jax_privacy.execution_plan.BandMFExecutionPlanConfig",
        paths: &["bandmfexecutionplanconfig"],
        strategy: Some("banded-optimised"),
        participation: Some("cyclic-poisson:BANDS,Q"),
    },
    CorrelatedNoise {
        name: "jax_privacy.matrix_factorization.buffered_toeplitz",
        paths: &["matrix_factorization.buffered_toeplitz", "bufferedtoeplitz"],
        strategy: Some("blt"),
        participation: None,
    },
    CorrelatedNoise {
        name: "jax_privacy.noise_addition.matrix_factorization_privatizer",
        paths: &["matrix_factorization_privatizer", "jax_privacy.matrix_factorization"],
        strategy: None,
        participation: None,
    },
    CorrelatedNoise {
        name: "DP-FTRL",
        paths: &["dp_ftrl", "dpftrl", "dp_mf"],
        strategy: None,
        participation: None,
    },
];

impl CorrelatedNoise {
    /// The mechanism that one of the calls names.
    pub(super) fn called_by(calls: &[Call]) -> Option<&'static Self> {
        let is_called = |noise: &&Self| {
            calls.iter().any(|call| noise.paths.iter().any(|path| call.ends_with(path)))
        };
        CORRELATED_NOISE.iter().find(is_called)
    }
}
