//! What is asked of matrix mechanisms, and the records that answer it.

use dpscope_core::accounting::AccountingError;
use dpscope_core::accounting::matrix::{
    LinearBuffers, MatrixMechanism, MatrixParticipation, MatrixStrategy, PrefixObjective,
    StrategyDesign,
};

use super::matrix::{MatrixReport, MatrixStrategyKind, MatrixStrategyRecord, MatrixValue};

/// A participation, a noise and how strategies are built.
///
/// | field | meaning | domain |
/// |---|---|---|
/// | `participation` | the steps of a participant | see [`MatrixParticipation::check`] |
/// | `delta` | δ | (0, 1) |
/// | `noise` | σ, or the ε that it is calibrated for | see [`MatrixMechanism`] |
/// | `bands` | bands of banded strategies \[default: the least distance of two steps, at most 64\] | 1 to T |
/// | `buffers` | buffers of an optimised BLT \[default: 3\] | 1 to 8 |
/// | `objective` | the error that is minimised \[default: the mean\] | – |
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixRequest {
    /// The steps in which a participant may take part.
    pub participation: MatrixParticipation,
    /// Privacy parameter δ.
    pub delta: f64,
    /// σ, or its target.
    pub noise: MatrixNoise,
    /// Bands of banded strategies.
    pub bands: Option<u32>,
    /// Buffers of an optimised BLT.
    pub buffers: Option<u32>,
    /// Decays and output scales of a BLT that is not optimised.
    pub given_buffers: Option<(Vec<f64>, Vec<f64>)>,
    /// The error that is minimised.
    pub objective: Option<PrefixObjective>,
    /// Steps of one participant, counted from 0; none if empty.
    pub participant_steps: Vec<u32>,
}

/// Where the noise multiplier comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MatrixNoise {
    /// The noise multiplier σ.
    Multiplier(f64),
    /// The least σ for this ε.
    ForEpsilon(f64),
}

/// Most bands by default.
const DEFAULT_BANDS: u32 = 64;

/// Most coefficients in a document.
const SHOWN_COEFFICIENTS: usize = 64;

impl MatrixRequest {
    /// The document with these strategies.
    #[must_use]
    pub fn report(&self, steps: u32, strategies: Vec<MatrixStrategyRecord>) -> MatrixReport {
        MatrixReport {
            schema: "dpscope.matrix/1",
            version: env!("CARGO_PKG_VERSION"),
            steps: steps.into(),
            participation: self.participation,
            delta: self.delta,
            target_epsilon: match self.noise {
                MatrixNoise::Multiplier(_) => None,
                MatrixNoise::ForEpsilon(epsilon) => Some(epsilon),
            },
            strategies,
        }
    }

    /// All strategies that are built by name; those without a value with the reason.
    ///
    /// # Errors
    /// That of the first strategy, if none has a value.
    pub fn compared(&self, steps: u32) -> Result<Vec<MatrixStrategyRecord>, AccountingError> {
        let mut first_error = None;
        let mut records = Vec::new();
        for strategy in MatrixStrategyKind::BUILT {
            records.push(self.built(strategy, steps).unwrap_or_else(|error| {
                let reason = Some(error.to_string());
                first_error.get_or_insert(error);
                let (bands, coefficients, buffers, value) = (None, None, None, None);
                MatrixStrategyRecord { strategy, bands, coefficients, buffers, value, reason }
            }));
        }
        match first_error {
            Some(error) if records.iter().all(|record| record.value.is_none()) => Err(error),
            _ => Ok(records),
        }
    }

    /// A strategy that is built by name.
    ///
    /// # Errors
    /// [`AccountingError`] of the design, the sensitivity or the noise.
    pub fn built(
        &self,
        kind: MatrixStrategyKind,
        steps: u32,
    ) -> Result<MatrixStrategyRecord, AccountingError> {
        self.record(kind, &self.design(kind, steps)?.build(steps, &self.participation)?)
    }

    /// What is proven of a strategy.
    ///
    /// # Errors
    /// [`AccountingError`] of the sensitivity or the noise.
    pub fn record(
        &self,
        kind: MatrixStrategyKind,
        strategy: &MatrixStrategy,
    ) -> Result<MatrixStrategyRecord, AccountingError> {
        let mechanism = MatrixMechanism::new(strategy, self.participation)?;
        let noise_multiplier = match self.noise {
            MatrixNoise::Multiplier(noise_multiplier) => noise_multiplier,
            MatrixNoise::ForEpsilon(epsilon) => mechanism.noise_for(epsilon, self.delta)?,
        };
        let account = mechanism.account(noise_multiplier, self.delta)?;
        let named = &self.participant_steps;
        let participant = (!named.is_empty())
            .then(|| mechanism.account_steps(named, noise_multiplier, self.delta));
        let error = strategy.prefix_error()?;
        let is_banded = matches!(
            kind,
            MatrixStrategyKind::BandedSquareRoot | MatrixStrategyKind::BandedOptimised
        );
        let coefficients = strategy.coefficients().filter(|_| is_banded);
        Ok(MatrixStrategyRecord {
            strategy: kind,
            bands: Some(strategy.bands() as u64),
            coefficients: coefficients
                .map(|bands| bands.iter().copied().take(SHOWN_COEFFICIENTS).collect()),
            buffers: strategy.buffers().cloned(),
            value: Some(MatrixValue {
                noise_multiplier,
                l2_sensitivity: mechanism.l2_sensitivity().worst,
                is_exact: mechanism.l2_sensitivity().is_exact,
                account,
                participant: participant.transpose()?,
                mean_error: noise_multiplier * error.root_mean_square,
                largest_error: noise_multiplier * error.largest,
            }),
            reason: None,
        })
    }

    fn design(
        &self,
        kind: MatrixStrategyKind,
        steps: u32,
    ) -> Result<StrategyDesign, AccountingError> {
        let bands = self.bands.unwrap_or_else(|| self.separation(steps).min(DEFAULT_BANDS));
        let objective = self.objective.unwrap_or_default();
        Ok(match kind {
            MatrixStrategyKind::Identity | MatrixStrategyKind::File => StrategyDesign::Identity,
            MatrixStrategyKind::Tree => StrategyDesign::Tree,
            MatrixStrategyKind::BandedSquareRoot => StrategyDesign::BandedSquareRoot { bands },
            MatrixStrategyKind::BandedOptimised => {
                StrategyDesign::BandedOptimised { bands, objective }
            }
            MatrixStrategyKind::Blt => match &self.given_buffers {
                Some((decays, scales)) => {
                    StrategyDesign::Buffered(LinearBuffers::new(decays, scales)?)
                }
                None => {
                    let buffers = self.buffers.unwrap_or(3);
                    StrategyDesign::BufferedOptimised { buffers, objective }
                }
            },
        })
    }

    /// The least distance of two steps of a participant.
    fn separation(&self, steps: u32) -> u32 {
        match self.participation {
            MatrixParticipation::Single => steps,
            MatrixParticipation::Epochs { epochs } | MatrixParticipation::Shuffled { epochs } => {
                steps / epochs.max(1)
            }
            MatrixParticipation::MinSeparation { separation, .. } => separation,
            MatrixParticipation::CyclicPoisson { groups, .. } => groups,
        }
    }
}
