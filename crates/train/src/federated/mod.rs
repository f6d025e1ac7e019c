//! One-shot audits of DP-FedAvg: one training of many clients, with canary clients whose directions
//! nobody else knows.
//!
//! A [`FederatedTraining`] divides a data set among clients. In every server round some of them train
//! locally; their updates are clipped to a norm C, summed, noised and divided by the planned number of
//! participants. A canary client has no data: it sends C·c, where c is a random unit direction of
//! [`CanaryDirections`](dpscope_simulation::CanaryDirections). The number of canaries is a draw of a
//! [`CanaryDesign`](dpscope_core::audit::one_shot::CanaryDesign). [`FederatedModels`] is the workload:
//! its units are trainings with canaries, followed by trainings without any, for comparison.
//! [`FederatedEvidence::tails`] turns evidence into null probabilities for
//! [`OneShotResult`](dpscope_core::audit::one_shot::OneShotResult), and [`FederatedOutcome`] reports it.
//!
//! | attacker sees | [`FederatedAttack`] | score of canary i |
//! |---|---|---|
//! | the final model | `FinalModel` | cos(cᵢ, θ_T − θ₀) |
//! | every model | `LargestUpdate` | maxₜ cos(cᵢ, ρₜ), p ≤ T·p(max) by the union bound |
//! | every model | `SumOfUpdates` | cos(cᵢ, Σₜ ρₜ/‖ρₜ‖) |
//! | every model, and when i took part | `KnownRounds` | cos(cᵢ, Σₜ gₜρₜ/Cₜ), g = SᵀS·1_Rᵢ |
//!
//! ρₜ is what round t adds before momentum and learning rate, which the attacker undoes. S is the matrix
//! of the [`NoiseMechanism`], so that g = 1_Rᵢ with independent noise. `KnownRounds` presumes that rounds
//! were assigned without a look at directions; it tests claims without amplification by sampling alone.

mod attack;
mod clipping;
mod evidence;
mod expected;
mod local;
mod noise;
mod outcome;
mod partition;
mod plan;
mod protocol;
mod releases;
mod rounds;
mod run;
mod settings;
mod training;
mod watched;

pub use attack::FederatedAttack;
pub use clipping::UpdateClipping;
pub use evidence::{FederatedEvidence, FederatedUnit};
pub use noise::NoiseMechanism;
pub use outcome::{FederatedOutcome, FederatedOutcomeError};
pub use plan::FederatedPlan;
pub use protocol::FederatedModels;
pub use rounds::Participation;
pub use settings::{FederatedDescription, FederatedSettings};
pub use training::FederatedTraining;
pub use watched::WatchedRounds;

#[cfg(feature = "gpu")]
pub(crate) use local::{LocalSteps, LocalTrainer, Participant, local_rate};
#[cfg(feature = "gpu")]
pub(crate) use run::FederatedRunner;
