//! Statistics of differential-privacy audits: lower bounds on ε from scores or error counts, and
//! privacy accounting for the same training.
//!
//! Pure: no input or output, threads, clock, entropy or GPU. Results have the same bits on every
//! target, wasm included.
//!
//! | task | entry point | result |
//! |---|---|---|
//! | [bound from attack scores](#bounds-from-scores) | [`audit::Scores`] | [`audit::AuditResult`] |
//! | [bound from error counts](#bounds-and-verdicts-from-counts) | [`audit::Counts`] | [`audit::AuditResult`] |
//! | [verdict on a claim](#bounds-and-verdicts-from-counts) | [`audit::AuditResult::verdict`] | [`audit::claim::ClaimVerdict`] |
//! | [ε of Poisson sampling](#privacy-accounting) | [`accounting::Poisson`] | [`accounting::Accounted`] |
//! | [proven bounds of shuffled batches](#privacy-accounting) | [`accounting::accountant`] | [`accounting::Accounted`] |
//! | [sampled bound of the worst-case pair](#privacy-accounting) | [`accounting::pair::SeededPair`] | [`accounting::Accounted`] |
//! | noisy votes of teachers (PATE) | [`accounting::pate::NoisyVote`] | moments, [`accounting::pate::EpsilonBracket`] |
//! | correlated noise (DP-FTRL, matrix mechanisms) | [`accounting::matrix::MatrixMechanism`] | [`accounting::matrix::MatrixAccount`] |
//! | [noise, steps or epochs for a target ε](#calibration) | [`accounting::calibrate`] | [`accounting::Calibrated`] |
//! | [observations needed to detect an ε](#planning) | [`audit::planner::observations_for_ceiling`] | observations per world |
//! | [scores of recorded outputs](#scores-of-outputs) | [`mechanism::OutputScorer`] | log-likelihood ratios, nats |
//! | independence of recorded runs | [`recorded::independence::IndependenceChecks`] | [`recorded::independence::Dependence`] |
//! | how well scores rank a class | [`ranking::RankingQuality`] | AUROC and AUPRC |
//! | check of a described training | [`training_check::diagnose`] | [`training_check::Diagnosis`] |
//!
//! Four kinds of value have types of their own: a bound with stated confidence
//! ([`audit::bound::EpsilonLowerBound`]), an estimate without coverage
//! ([`audit::bound::EpsilonEstimate`]), a proven value ([`accounting::Accounted`]) and a claim
//! ([`audit::claim::PrivacyClaim`]).
//!
//! # Bounds from scores
//!
//! One score per training run, higher if the attack suspects the target record. A bound requires
//! independent runs, and a number of runs and a seed that were fixed before the scores were known.
//!
//! ```
//! use dpscope_core::audit::{AuditOptions, Scores};
//! # use dpscope_core::random::{Purpose, WideNormals};
//! # let mut normals = WideNormals::new(1, Purpose::Test, 0);
//! # let (mut target, mut zero_out) = ([0.0; 4000], [0.0; 4000]);
//! # normals.fill(&mut target);
//! # normals.fill(&mut zero_out);
//! # target.iter_mut().for_each(|score| *score += 2.0);
//! let options = AuditOptions { delta: 1e-5, ..AuditOptions::default() };
//! let result = Scores::new(&target, &zero_out).audit(&options)?;
//! println!("epsilon >= {:.4}", result.epsilon()); // epsilon >= 3.6010
//! # assert_eq!(format!("{:.4}", result.bound().unwrap().value()), "3.6010");
//! # Ok::<(), dpscope_core::audit::ScoresError>(())
//! ```
//!
//! # Bounds and verdicts from counts
//!
//! ```
//! use dpscope_core::adjacency::Adjacency;
//! use dpscope_core::audit::Counts;
//! use dpscope_core::audit::bound::Statement;
//! use dpscope_core::audit::claim::{PrivacyClaim, Verdict};
//!
//! let counts = Counts {
//!     false_positives: 12,
//!     zero_out_trials: 1000,
//!     false_negatives: 480,
//!     target_trials: 1000,
//! };
//! let result = counts.audit(Statement { delta: 1e-5, significance: 0.05 })?;
//! println!("epsilon >= {:.4}", result.epsilon()); // epsilon >= 3.1531
//! # assert_eq!(format!("{:.4}", result.epsilon()), "3.1531");
//!
//! let claim = PrivacyClaim { epsilon: 2.0, delta: 1e-5, adjacency: Adjacency::AddRemove };
//! assert_eq!(result.verdict(&claim)?.outcome, Verdict::Refuted);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Privacy accounting
//!
//! ```
//! use dpscope_core::accounting::pair::{ExactPair, PairMethod, SeededPair};
//! use dpscope_core::accounting::{Accountant, Given, Kind, Poisson, Query, Training, accountant};
//! use dpscope_core::mechanism::SamplerKind;
//!
//! let training =
//!     Training { noise_multiplier: 1.0, steps_per_epoch: 100, epochs: 1, sampling_rate: None };
//! let (upper, lower) = (
//!     Query::upper(training, Given::Delta(1e-5)),
//!     Query::lower(training, Given::Delta(1e-5)),
//! );
//! let poisson = Poisson.account(&upper)?.epsilon;
//! let at_least = accountant(SamplerKind::Shuffle, Kind::Lower).ok_or("none")?.account(&lower)?;
//! let at_most = accountant(SamplerKind::Shuffle, Kind::Upper).ok_or("none")?.account(&upper)?;
//! println!("claimed {poisson:.2}, proven {:.2} to {:.2}", at_least.epsilon, at_most.epsilon);
//! // claimed 0.72, proven 4.06 to 4.38
//! # let found = [poisson, at_least.epsilon, at_most.epsilon].map(|e| format!("{e:.2}"));
//! # assert_eq!(found, ["0.72", "4.06", "4.38"]);
//!
//! let sampling = ExactPair { method: PairMethod::OneEpoch, draws: 20_000, significance: 0.025 };
//! let pair = SeededPair { sampling, seed: 1 }.account(&lower)?;
//! println!("exact pair >= {:.2}, with 97.5 % confidence", pair.epsilon); // 4.06
//! # assert_eq!(format!("{:.2}", pair.epsilon), "4.06");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Calibration
//!
//! ```
//! use dpscope_core::accounting::{Parameter, Poisson, PrivacyTarget, Training, calibrate};
//!
//! let target = PrivacyTarget { epsilon: 4.0, delta: 1e-5, error: None };
//! let training =
//!     Training { noise_multiplier: 1.0, steps_per_epoch: 100, epochs: 1, sampling_rate: None };
//! let noise = calibrate(&Poisson, Parameter::Noise, &target, &training)?;
//! println!("noise multiplier {:.3}", noise.value); // noise multiplier 0.591
//! # assert_eq!(format!("{:.3}", noise.value), "0.591");
//! # Ok::<(), dpscope_core::accounting::AccountingError>(())
//! ```
//!
//! # Planning
//!
//! ```
//! use dpscope_core::audit::bound::ceiling;
//! use dpscope_core::audit::planner::observations_for_ceiling;
//! use dpscope_core::audit::trade_off::Trials;
//!
//! // the largest ε that 1,000 runs per world can show, at tail 0.025 for each error rate
//! let most = ceiling(Trials { target: 1000, zero_out: 1000 }, 1e-5, 0.025)?;
//! println!("{most:.2}"); // 5.60
//! # assert_eq!(format!("{most:.2}"), "5.60");
//! println!("{}", observations_for_ceiling(9.0, 1e-5, 0.025)?); // 29894
//! # assert_eq!(observations_for_ceiling(9.0, 1e-5, 0.025)?, 29_894);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Scores of outputs
//!
//! ```
//! use dpscope_core::mechanism::{
//!     BatchSampler, BatchedGaussian, OutputOptions, OutputScorer, ThreatModel,
//! };
//!
//! let mechanism = BatchedGaussian {
//!     noise_multiplier: 1.0,
//!     steps_per_epoch: 3,
//!     epochs: 1,
//!     sampler: BatchSampler::Shuffle,
//!     threat_model: ThreatModel::TargetCanary,
//!     batch_size: None,
//!     dataset_size: None,
//! };
//! let scorer = OutputScorer::new(&mechanism, OutputOptions::default())?;
//! println!("{:.4} nats", scorer.score(&[0.3, 1.4, -0.2])?); // 0.2298 nats
//! # assert_eq!(format!("{:.4}", scorer.score(&[0.3, 1.4, -0.2])?), "0.2298");
//! # Ok::<(), dpscope_core::mechanism::MechanismError>(())
//! ```

pub mod accounting;
pub mod adjacency;
pub mod audit;
pub mod curve;
pub mod foreign_text;
pub mod format;
pub mod gdp;
pub mod interval;
pub mod math;
pub mod mechanism;
pub mod random;
pub mod ranking;
pub mod recorded;
pub mod special;
pub mod training_check;
