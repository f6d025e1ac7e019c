//! PATE-GAN: a generator of synthetic rows that learns from noisy votes of teachers, with the faults
//! of published implementations as switches, for audits of synthetic-data generators.
//!
//! A [`Mechanism`] runs on a [`table::Table`] with and without a target row. The [`FaultSet`] names
//! what is wrong with it: without a fault, it is the faithful mechanism, and what it publishes
//! besides its rows ([`Mechanism::release`]) does not depend on the data. The [`Trace`] of a run
//! holds what detectors look at; it is never released.
//!
//! Runs of one world are trained at once, one per lane: these networks are too small to use vector
//! instructions inside one. Results have the same bits on every target, wasm included.
//!
//! # Example
//! ```
//! use dpscope_core::adjacency::World;
//! use dpscope_synth::table::{Column, ColumnKind, Schema, Table, Value};
//! use dpscope_synth::{Fault, FaultSet, Mechanism, Settings, Stop};
//!
//! let kind = ColumnKind::Integer { low: 0, high: 1 };
//! let schema = Schema::new(vec![Column { name: "ill".to_string(), kind }])?;
//! let rows: Vec<_> =
//!     (0..5).map(|id| (id, vec![Value::Number(if id == 4 { 1.0 } else { 0.0 })])).collect();
//! let table = Table::new(schema, &rows)?;
//!
//! let settings = Settings { stop: Stop::Iterations(3), rows: 2, ..Settings::default() };
//! let faithful = Mechanism::new(&table, 4, &settings, FaultSet::NONE, 7)?;
//! assert_eq!(faithful.run(&[0, 1, 2])[1].rows.len(), 2);
//! assert_eq!(faithful.release(World::Target), faithful.release(World::ZeroOut));
//!
//! let faults = FaultSet::NONE.with(Fault::E1); // as many rows as the data have
//! let faulty = Mechanism::new(&table, 4, &settings, faults, 7)?;
//! assert_eq!([World::Target, World::ZeroOut].map(|world| faulty.release(world).rows), [5, 4]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accountant;
pub mod attack;
pub mod audit;
pub mod detect;
mod fault;
#[cfg(feature = "generator")]
pub mod generator;
mod implementation;
mod lanes;
pub mod mechanism;
mod network;
mod settings;
pub mod table;
mod trace;
pub mod utility;
#[cfg(feature = "workload")]
pub mod workload;

pub use accountant::VoteAccountant;
pub use fault::{Detector, Fault, FaultDescription, FaultSet, Source, UnknownFault};
pub use implementation::{IMPLEMENTATIONS, Implementation};
pub use mechanism::Mechanism;
pub use settings::{Latent, Settings, SettingsError, Spending, Stop};
pub use trace::{LabelNoise, Reader, Trace, VoteCounts};
