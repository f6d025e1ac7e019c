//! Which states of a training are saved.

use std::str::FromStr;

use dpscope_train::Network;
use dpscope_train::metagradient::{Checkpointing, OptimizationSettings, UpdateRule};

use crate::failure::Failure;

/// The value of `--memory`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryArg {
    StoreAll,
    TwoLevel,
    /// At most so many MiB in all threads together.
    Mebibytes(u32),
}

impl FromStr for MemoryArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "store-all" => Ok(MemoryArg::StoreAll),
            "two-level" => Ok(MemoryArg::TwoLevel),
            _ => match text.parse() {
                Ok(mebibytes @ 1..=0x0010_0000) => Ok(MemoryArg::Mebibytes(mebibytes)),
                _ => Err("must be store-all, two-level, or 1 to 1048576 MiB".to_owned()),
            },
        }
    }
}

impl MemoryArg {
    /// The schedule for `threads` trainings at once.
    pub(super) fn schedule(
        self,
        network: &Network,
        settings: &OptimizationSettings,
        threads: usize,
    ) -> Result<Checkpointing, Failure> {
        let mebibytes = match self {
            MemoryArg::StoreAll => return Ok(Checkpointing::StoreAll),
            MemoryArg::TwoLevel => return Ok(Checkpointing::TwoLevel),
            MemoryArg::Mebibytes(mebibytes) => u64::from(mebibytes),
        };
        let vectors = 1 + UpdateRule::<f32>::moments(&settings.rule);
        let state = (network.parameters() * vectors * size_of::<f32>()) as u64;
        let at_once = threads.clamp(1, 2 * settings.splits as usize) as u64;
        let memory = (mebibytes << 20) / at_once;
        Checkpointing::within(settings.steps, state, memory).ok_or_else(|| {
            let needed = (state * at_once).div_ceil(1 << 20);
            Failure::input(format!(
                "--memory {mebibytes} is too small for one state of each of {at_once} concurrent \
                 training runs; use at least {needed}, or fewer --threads"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_train::ModelSpec;

    #[test]
    fn schedules_follow_from_the_memory() {
        assert_eq!("two-level".parse(), Ok(MemoryArg::TwoLevel));
        for text in ["0", "-1", "all", "1048577"] {
            assert!(text.parse::<MemoryArg>().is_err(), "{text}");
        }
        let network = Network::new(&ModelSpec::lenet()).unwrap();
        let settings = OptimizationSettings::new(1, 0);
        // 61,026 parameters with momentum: 488,208 bytes; both halves run at once
        let schedule = |memory: MemoryArg| memory.schedule(&network, &settings, 8);
        assert_eq!(schedule(MemoryArg::Mebibytes(1024)).unwrap(), Checkpointing::StoreAll);
        let few = schedule(MemoryArg::Mebibytes(10)).unwrap();
        assert_eq!(few, Checkpointing::Revolve { states: 10 });
        let none = MemoryArg::Mebibytes(1).schedule(&network, &settings, 1).unwrap();
        assert_eq!(none, Checkpointing::Revolve { states: 2 });
        let larger = OptimizationSettings { splits: 4, ..settings.clone() };
        let failure = MemoryArg::Mebibytes(1).schedule(&network, &larger, 8).unwrap_err();
        assert!(format!("{:#}", failure.error).contains("--memory 1 "));
    }
}
