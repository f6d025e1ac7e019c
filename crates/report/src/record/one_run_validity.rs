//! How often the bound of a one-run audit exceeds the truth, by procedure and simulated training.

use serde::Serialize;

/// The document of `dpscope reproduce one-run-validity`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneRunValidityReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.one_run_validity/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// Canaries of each training: m.
    pub canaries: u64,
    /// Simulated audits per setting.
    pub runs: u64,
    /// Nominal chance that a bound exceeds the truth.
    pub significance: f64,
    /// Chance that any of the findings on coverage is wrong.
    pub findings_significance: f64,
    /// Decimal digits.
    pub seed: String,
    /// What was compared.
    pub procedures: Vec<ProcedureRecord>,
    /// One per simulated training.
    pub settings: Vec<ValiditySetting>,
}

/// A procedure and what is known of it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcedureRecord {
    /// The procedure.
    pub procedure: OneRunProcedure,
    /// Its name in tables.
    pub name: &'static str,
    /// What it computes.
    pub description: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// The trainings for which it has coverage by a proof.
    pub proven_for: Option<&'static str>,
    /// Whether it takes canaries as independent observations.
    pub assumes_independence: bool,
    /// What it bounds.
    pub quantity: BoundedQuantity,
}

/// A simulated training and the results of all procedures on it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValiditySetting {
    /// The training.
    pub training: SimulatedTraining,
    /// Its name in tables.
    pub name: &'static str,
    /// What it releases.
    pub description: String,
    /// Guesses of procedures with a fixed number: k.
    pub guesses: u64,
    /// δ of the statements.
    pub delta: f64,
    /// The smallest ε with which the training is (ε, δ)-DP.
    pub epsilon: f64,
    /// A μ with which the training is μ-GDP; none if there is none.
    pub gdp_mu: Option<f64>,
    /// One per procedure that applies.
    pub results: Vec<ValidityResult>,
}

/// A procedure on a simulated training.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValidityResult {
    /// The procedure.
    pub procedure: OneRunProcedure,
    /// ε or μ of the training.
    pub truth: f64,
    /// Median of the bounds.
    pub median: f64,
    /// Runs whose bound exceeds the truth.
    pub runs_above: u64,
    /// Their share.
    pub share: f64,
    /// Lower end of the exact 95 % interval of that share.
    pub share_lower: f64,
    /// Its upper end.
    pub share_upper: f64,
    /// What the runs show.
    pub coverage: CoverageFinding,
}

/// What a procedure bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BoundedQuantity {
    /// ε at δ.
    Epsilon,
    /// μ of Gaussian differential privacy.
    GdpMu,
}

impl BoundedQuantity {
    /// Its symbol.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            BoundedQuantity::Epsilon => "ε",
            BoundedQuantity::GdpMu => "μ",
        }
    }
}

/// What simulated audits show of the chance that a bound exceeds the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CoverageFinding {
    /// It is above the nominal one.
    Exceeded,
    /// The runs do not decide.
    Undecided,
    /// It is at most the nominal one.
    Held,
}

/// A procedure that turns the scores of one training into a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OneRunProcedure {
    /// The exact count test, fixed number of guesses.
    Count,
    /// All numbers of guesses at a joint level.
    Walk,
    /// The bound of Steinke et al., fixed number of guesses.
    Steinke,
    /// The recursion with a Gaussian curve, fixed number of guesses.
    Recursion,
    /// The largest of many bounds over the number of guesses.
    LargestOverGuesses,
    /// The largest over the numbers of guesses of both sides.
    LargestOverSides,
    /// Bonferroni over the points of the hull of the ROC curve.
    HullBonferroni,
    /// Guesses as independent.
    IndependentCanaries,
    /// Normal distributions fitted to scores.
    GaussianFit,
    /// Error rates of canaries as those of independent runs.
    ClopperPearson,
}

impl OneRunProcedure {
    /// All, in the order of tables.
    pub const ALL: [OneRunProcedure; 10] = [
        OneRunProcedure::Count,
        OneRunProcedure::Walk,
        OneRunProcedure::Steinke,
        OneRunProcedure::Recursion,
        OneRunProcedure::LargestOverGuesses,
        OneRunProcedure::LargestOverSides,
        OneRunProcedure::HullBonferroni,
        OneRunProcedure::IndependentCanaries,
        OneRunProcedure::GaussianFit,
        OneRunProcedure::ClopperPearson,
    ];

    /// Name, contents, source, and for which trainings coverage is proven.
    #[must_use]
    pub const fn record(self) -> ProcedureRecord {
        let [name, description, source] = self.words();
        ProcedureRecord {
            procedure: self,
            name,
            description,
            source,
            proven_for: self.proven_for(),
            assumes_independence: matches!(
                self,
                OneRunProcedure::IndependentCanaries
                    | OneRunProcedure::GaussianFit
                    | OneRunProcedure::ClopperPearson
            ),
            quantity: match self {
                OneRunProcedure::Recursion | OneRunProcedure::IndependentCanaries => {
                    BoundedQuantity::GdpMu
                }
                _ => BoundedQuantity::Epsilon,
            },
        }
    }

    const fn proven_for(self) -> Option<&'static str> {
        match self {
            OneRunProcedure::Count | OneRunProcedure::Steinke => {
                Some("(ε, δ)-DP trainings with k fixed before the coins are drawn")
            }
            OneRunProcedure::Walk => Some("(ε, δ)-DP trainings"),
            OneRunProcedure::Recursion => {
                Some("μ-GDP trainings with k fixed before the coins are drawn")
            }
            OneRunProcedure::IndependentCanaries => {
                Some("independent Gaussian scores and a fixed k")
            }
            OneRunProcedure::ClopperPearson => Some("independent scores and a fixed cut"),
            _ => None,
        }
    }

    /// Name, description and source.
    const fn words(self) -> [&'static str; 3] {
        match self {
            OneRunProcedure::Count => [
                "count, k fixed",
                "the exact test of the number of correct guesses",
                "dpscope, the default for a fixed k",
            ],
            OneRunProcedure::Walk => [
                "walk, k unknown",
                "the numbers of correct guesses of the first 8, 16, 32, …, m, at a joint level",
                "dpscope, the default without k",
            ],
            OneRunProcedure::Steinke => [
                "Steinke, k fixed",
                "the number of correct guesses, with a looser term for δ",
                "Steinke et al. (2023), arXiv:2305.08846, theorem 5.2",
            ],
            OneRunProcedure::Recursion => [
                "recursion, k fixed",
                "μ by a recursion over the number of correct guesses",
                "Mahloujifar et al. (2025), arXiv:2410.22235, algorithm 3, with a maximum in each step",
            ],
            OneRunProcedure::LargestOverGuesses => [
                "largest over k",
                "the largest Steinke bound over k = 10, 20, …, m, half of them IN, uncorrected",
                "the practice of arXiv:2507.15836",
            ],
            OneRunProcedure::LargestOverSides => [
                "largest over sides",
                "the same over the numbers of IN and OUT guesses, each 0, 10, 20, …, uncorrected",
                "a variant of that practice",
            ],
            OneRunProcedure::HullBonferroni => [
                "hull, Bonferroni",
                "the largest Steinke bound over the points of the hull of the ROC curve, IN guesses \
                 alone, at the significance divided by their number, which is random",
                "jax_privacy 2.0.0, default of CanaryScoreAuditor.epsilon_one_run",
            ],
            OneRunProcedure::IndependentCanaries => [
                "independent canaries",
                "the number of correct guesses, as if canaries had independent Gaussian scores",
                "Xiang et al. (2025), arXiv:2501.17750 and arXiv:2509.08704",
            ],
            OneRunProcedure::GaussianFit => [
                "Gaussian fit",
                "a lower limit of the distance of normal distributions of one variance, fitted to IN and \
                 OUT scores, as ε at δ",
                "after Agrawal et al. (2026), arXiv:2606.12733; one variance and the normal limit of the \
                 distance are choices made here",
            ],
            OneRunProcedure::ClopperPearson => [
                "Clopper–Pearson",
                "limits of both error rates at one fixed cut, as if canaries were independent runs",
                "jax_privacy 2.0.0, CanaryScoreAuditor.epsilon_clopper_pearson with an explicit cut",
            ],
        }
    }
}

/// A simulated training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SimulatedTraining {
    /// Scores that do not depend on the coins.
    NoLeakage,
    /// Independent Gaussian scores, μ = 1.
    GaussianOne,
    /// Independent Gaussian scores, μ = 3.
    GaussianThree,
    /// A few coins are published with a small probability.
    NameAndShame,
    /// All coins are published by randomised response, or none, by one common coin.
    PublicCoin,
    /// All coins are published by randomised response.
    RandomisedResponse,
}

impl SimulatedTraining {
    /// All, in the order of tables.
    pub const ALL: [SimulatedTraining; 6] = [
        SimulatedTraining::NoLeakage,
        SimulatedTraining::GaussianOne,
        SimulatedTraining::GaussianThree,
        SimulatedTraining::NameAndShame,
        SimulatedTraining::PublicCoin,
        SimulatedTraining::RandomisedResponse,
    ];

    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SimulatedTraining::NoLeakage => "no leakage",
            SimulatedTraining::GaussianOne => "Gaussian, μ = 1",
            SimulatedTraining::GaussianThree => "Gaussian, μ = 3",
            SimulatedTraining::NameAndShame => "name and shame",
            SimulatedTraining::PublicCoin => "public coin",
            SimulatedTraining::RandomisedResponse => "randomised response",
        }
    }
}
