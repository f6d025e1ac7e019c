//! The mechanism: a plan for runs in two worlds.

mod draws;
mod group;
mod losses;
mod output;
mod partition;
mod real_rows;
mod release;
mod votes;
mod world;

use dpscope_core::adjacency::World;
use dpscope_core::random::stream_of;

use crate::fault::{Fault, FaultSet};
use crate::lanes::LANES;
use crate::settings::{Settings, SettingsError, Stop};
use crate::table::{Decoding, Scaling, Table, TableError};
#[cfg(feature = "workload")]
use crate::trace::VoteCounts;
use group::Group;
pub use output::{Release, Run};
use world::WorldData;

/// Why a mechanism is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// The settings.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The target is no row.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A fault needs a label, and the schema has none.
    #[error("fault {fault} needs a label, and the schema has none")]
    NoLabel {
        /// The fault.
        fault: Fault,
    },
    /// A fault concerns when to stop, and the number of iterations is fixed.
    #[error("fault {fault} needs an ε at which to stop, and the number of iterations is fixed")]
    NoEpsilon {
        /// The fault.
        fault: Fault,
    },
}

/// PATE-GAN on a table with and without a target row.
///
/// Teachers are logistic units, trained on disjoint parts of the rows; the student {d, d, 1} and the
/// generator {d, ⌊d/2⌋, d} see rows only through the noisy majority of the teachers, where d is
/// [`crate::table::Schema::width`]. An iteration has steps of the teachers (a batch of each one's rows
/// with replacement, against one batch of generated rows), steps of the student (generated rows with
/// noisy labels) and one step of the generator (mean −log S). Adam with rate 1e-4; Xavier uniform
/// weights. Units of the hidden layers are tanh (generator) and max(x, 0) (student).
///
/// A run has random streams of its own, by its unit 2·run + world. Rows are divided among the
/// teachers by a hash of their identifiers.
///
/// # Guarantee
/// A run depends on nothing but seed and unit: not on the runs beside it
/// (`crates/synth/tests/mechanism.rs::a_run_does_not_depend_on_its_company`). It equals plain loops
/// in f64 within rounding, which loops with one mistake do not
/// (`crates/synth/tests/plain_loops.rs::runs_equal_plain_loops`).
///
/// # Reference
/// J. Jordon, J. Yoon and M. van der Schaar, PATE-GAN, ICLR 2019, algorithm 1.
#[derive(Debug, Clone)]
pub struct Mechanism {
    settings: Settings,
    faults: FaultSet,
    seed: u64,
    /// By [`World::index`].
    worlds: [WorldData; 2],
}

impl Mechanism {
    /// A mechanism for runs on a table, and on the table without its target.
    ///
    /// | argument | meaning |
    /// |---|---|
    /// | `table` | the rows, with the target |
    /// | `target` | identifier of the row that one world lacks |
    /// | `settings` | public parameters |
    /// | `faults` | switches; none for the faithful mechanism |
    /// | `seed` | seed of all runs |
    ///
    /// # Errors
    /// [`MechanismError`].
    pub fn new(
        table: &Table,
        target: u64,
        settings: &Settings,
        faults: FaultSet,
        seed: u64,
    ) -> Result<Self, MechanismError> {
        if faults.has(Fault::O6) && table.schema().label().is_none() {
            return Err(MechanismError::NoLabel { fault: Fault::O6 });
        }
        let stops = matches!(settings.stop, Stop::Epsilon { .. });
        let asks = faults.iter().find(|fault| fault.needs_epsilon());
        if let Some(fault) = asks.filter(|_| !stops) {
            return Err(MechanismError::NoEpsilon { fault });
        }
        let without = table.without(target)?;
        let world = |world: World| {
            let table = if world == World::Target { table } else { &without };
            WorldData::new(table, settings, faults)
        };
        let worlds = [world(World::Target)?, world(World::ZeroOut)?];
        Ok(Mechanism { settings: settings.clone(), faults, seed, worlds })
    }

    /// The public parameters.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The switches that are on.
    #[must_use]
    pub fn faults(&self) -> FaultSet {
        self.faults
    }

    /// What is published in a world besides the rows.
    #[must_use]
    pub fn release(&self, world: World) -> Release {
        self.worlds[world.index()].release()
    }

    /// Number of real rows in a world.
    pub(crate) fn row_count(&self, world: World) -> usize {
        self.worlds[world.index()].ids().len()
    }

    /// Number of encoded columns.
    pub(crate) fn width(&self) -> usize {
        self.worlds[0].width()
    }

    /// How columns are scaled if nothing but the schema is known.
    pub(crate) fn public_scalings(&self) -> Vec<Scaling> {
        self.worlds[0].public_scalings()
    }

    /// Standard deviation of the noise that a fault adds to labels of training rows.
    pub(crate) fn label_noise_of(&self, fault: Fault) -> Option<f64> {
        self.worlds[0].label_noise_of(FaultSet::NONE.with(fault))
    }

    /// Released values of points between −1 and 1, beside what the encoding makes of them: none
    /// without a column of numbers, and the fault that explains a change.
    pub(crate) fn decoding_change(&self, world: World) -> Option<Option<Fault>> {
        let data = &self.worlds[world.index()];
        let (points, has_numbers) = data.points();
        // a label that is copied from the data is no decoded value
        let released = data.without_label(release::decode(data, self.faults, &points));
        let decoded = |decoding| data.without_label(data.encoding.decode(&points, decoding));
        has_numbers.then(|| {
            if released == decoded(Decoding::Rounded) {
                None
            } else if released == decoded(Decoding::Truncated) {
                Some(Fault::T5)
            } else {
                Some(Fault::U5)
            }
        })
    }

    /// Identifiers of the rows of each teacher in the first iteration, with the keys of a unit.
    ///
    /// The unit may be one of another world: a faithful division has one teacher that differs.
    #[must_use]
    pub fn teacher_rows(&self, world: World, unit: u64) -> Vec<Vec<u64>> {
        let data = &self.worlds[world.index()];
        let rows = partition::teacher_rows(data, self.faults, self.seed, unit, 0);
        rows.iter().map(|rows| rows.iter().map(|row| data.ids()[*row as usize]).collect()).collect()
    }

    /// Identifiers of the rows of each teacher of a unit, in its own world.
    #[cfg(feature = "workload")]
    pub(crate) fn rows_of_teachers(&self, unit: u64) -> Vec<Vec<u64>> {
        let world = World::BOTH.into_iter().find(|world| unit % 2 == stream_of(*world, 0));
        self.teacher_rows(world.unwrap_or(World::Target), unit)
    }

    /// α(l) of votes by the mechanism's accountant, l = 1, 2, ….
    #[cfg(feature = "workload")]
    pub(crate) fn moments(&self, world: World, votes: &VoteCounts) -> Vec<f64> {
        self.worlds[world.index()].moments.sums(&votes.accounted)
    }

    /// Runs, in the order of their units 2·run + world ([`stream_of`]).
    #[must_use]
    pub fn run(&self, units: &[u64]) -> Vec<Run> {
        self.run_while(units, &|| true).unwrap_or_default()
    }

    /// [`Self::run`], or none once `keep_going` returns false; it is asked before each iteration.
    pub(crate) fn run_while(
        &self,
        units: &[u64],
        keep_going: &dyn Fn() -> bool,
    ) -> Option<Vec<Run>> {
        let mut runs = Vec::with_capacity(units.len());
        for world in [World::Target, World::ZeroOut] {
            let data = &self.worlds[world.index()];
            let of_world = |unit: &u64| *unit % 2 == stream_of(world, 0);
            let units: Vec<u64> = units.iter().copied().filter(of_world).collect();
            for units in units.chunks(LANES) {
                runs.extend(Group::new(data, self.faults, self.seed, units).run(keep_going)?);
            }
        }
        let position = |run: &Run| units.iter().position(|unit| *unit == run.trace.unit);
        runs.sort_by_cached_key(position);
        Some(runs)
    }
}
