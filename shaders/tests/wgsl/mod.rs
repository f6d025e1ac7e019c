//! Checks the WGSL kernels without a GPU: validity, translation, bindings, and the optimisation
//! barriers of exact mode.

mod barriers;
mod directions;
mod finite;
mod layout;
mod pair;
mod train;
mod translation;

use dpscope_core::mechanism::{ScoreDistribution, ScoreDistributionKind, SlotWeights};
use dpscope_shaders::bgm::{Phase, Program, Variant};
use dpscope_shaders::{FloatMode, ScoreKernel};
use naga::Module;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

/// The validated module of a source; no optional capabilities are allowed.
fn validated(source: &str) -> Result<(Module, ModuleInfo), String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|e| e.emit_to_string(source))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module);
    let info = info.map_err(|error| error.emit_to_string(source))?;
    Ok((module, info))
}

/// Replaces all occurrences of a string, which must be present.
fn edited(source: &str, from: &str, to: &str) -> String {
    assert!(source.contains(from), "`{from}` is not in the kernel: update the test");
    source.replace(from, to)
}

/// The variant of that name.
fn variant(name: &str) -> Variant {
    Variant::all().into_iter().find(|variant| variant.name() == name).unwrap()
}

/// One program of every variant.
fn programs() -> Vec<Program> {
    let uniform = || SlotWeights::Uniform;
    let weighted = || SlotWeights::Weighted(vec![0.2; 5]);
    let mut programs = Vec::new();
    for mode in [FloatMode::Exact, FloatMode::Fast] {
        for noise_multiplier in [1.0, 0.1] {
            let one_slot = |gap, weights| ScoreDistributionKind::OneSlot { gap, weights };
            let kinds = [
                one_slot(1.0, uniform()),
                one_slot(1.0, weighted()),
                one_slot(2.0, uniform()),
                one_slot(2.0, weighted()),
                ScoreDistributionKind::Poisson { sampling_rate: 0.5 },
                ScoreDistributionKind::Poisson { sampling_rate: 1.0 },
                ScoreDistributionKind::FixedSize { sampling_rate: 0.5 },
                ScoreDistributionKind::SeveralSlots { uses_per_epoch: 2 },
            ];
            for kind in kinds {
                let distribution =
                    ScoreDistribution { noise_multiplier, epochs: 3, entries: 5, kind };
                let kernel = ScoreKernel::new(&distribution, 7, Phase::Audit).unwrap();
                programs.push(kernel.program(mode));
            }
        }
    }
    programs
}

#[test]
fn programs_cover_every_variant() {
    let mut missing = Variant::all();
    missing.retain(|variant| !programs().iter().any(|program| program.variant() == *variant));
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(Variant::all().len(), 24);
}
