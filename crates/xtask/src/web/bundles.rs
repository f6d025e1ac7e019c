//! The wasm bundles: cargo, then wasm-bindgen, then wasm-opt.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::node::{folder, program};
use crate::process::{cargo, succeed, target_folder, without_home};
use crate::toolchain::ensure_target;

const TARGET: &str = "wasm32-unknown-unknown";

/// One wasm module with the JavaScript that loads it.
struct Bundle {
    /// The feature of `crates/wasm`, which is also the folder below `web/wasm`.
    feature: &'static str,
    name: &'static str,
    /// Whether it is linked at a level that vectorises the lanes.
    has_lanes: bool,
}

const BUNDLES: [Bundle; 10] = [
    Bundle { feature: "calculators", name: "dpscope_calculators", has_lanes: false },
    Bundle { feature: "accounting", name: "dpscope_accounting", has_lanes: false },
    Bundle { feature: "studies", name: "dpscope_studies", has_lanes: true },
    Bundle { feature: "files", name: "dpscope_files", has_lanes: false },
    Bundle { feature: "one_shot", name: "dpscope_one_shot", has_lanes: true },
    Bundle { feature: "pate", name: "dpscope_pate", has_lanes: false },
    Bundle { feature: "synth", name: "dpscope_synth", has_lanes: true },
    Bundle { feature: "audits", name: "dpscope_audits", has_lanes: true },
    Bundle { feature: "training", name: "dpscope_training", has_lanes: true },
    Bundle { feature: "training_canaries", name: "dpscope_training_canaries", has_lanes: true },
];

/// The profile of the workspace, one for all bundles: they share the crates that they link.
const PROFILE: &str = "wasm";

/// The level that a bundle with lanes is linked at: vectors from straight code. Less leaves them out.
const LEVEL_OF_LANES: &str = "profile.wasm.package.dpscope-wasm.opt-level=3";

/// What wasm-opt does: 1 % fewer bytes than with the first alone. Nothing of ours lies in the lowest
/// 1024 bytes, which are the far end of the stack.
const PASSES: [&str; 10] = [
    "-Os",
    "--low-memory-unused",
    "--zero-filled-memory",
    "--flatten",
    "--rereloop",
    "--gufa",
    "-Os",
    "-Os",
    "--strip-producers",
    "--strip-target-features",
];

/// Passes for trainings: `-O2` and `-Os` save 2 % of bytes, and convolutions take twice as long.
const PASSES_OF_TRAINING: [&str; 3] = ["-O1", "--strip-producers", "--strip-target-features"];

/// What every browser with WebGPU or without has; not `--all-features`, which some refuse.
const FEATURES: [&str; 8] = [
    "--enable-simd",
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
];

impl Bundle {
    /// Where the bundle comes to lie.
    fn folder(&self) -> PathBuf {
        folder().join("wasm").join(self.feature)
    }

    fn module(&self) -> PathBuf {
        self.folder().join(format!("{}_bg.wasm", self.name))
    }

    fn passes(&self) -> &'static [&'static str] {
        if self.feature.starts_with("training") { &PASSES_OF_TRAINING } else { &PASSES }
    }

    /// The module that a page loads, from the one that cargo built, unless it is there already.
    fn optimise(&self, built: &Path) -> Result<()> {
        let passes = self.passes();
        let seen = format!("{}{}.seen", self.name, passes.concat());
        let seen = target_folder().join("web").join(seen);
        if self.module().is_file() && is_same(built, &seen) {
            return Ok(());
        }
        let unoptimised = target_folder().join("web/bindgen").join(self.feature);
        succeed(&mut bindgen(built, &unoptimised, self.name))?;
        std::fs::create_dir_all(self.folder())?;
        for file in [format!("{}.js", self.name), format!("{}.d.ts", self.name)] {
            std::fs::copy(unoptimised.join(&file), self.folder().join(&file)).context(file)?;
        }
        let module = unoptimised.join(format!("{}_bg.wasm", self.name));
        let mut optimise = program("binaryen/bin/wasm-opt");
        optimise.args(passes).args(FEATURES).arg(module).arg("-o").arg(self.module());
        succeed(&mut optimise)?;
        std::fs::copy(built, &seen).context("remembering what was built").map(drop)
    }

    /// The module as cargo leaves it, under a name of its own.
    fn compile(&self) -> Result<PathBuf> {
        // Artefacts built with other RUSTFLAGS are unchanged.
        let target_folder = target_folder().join("web");
        let mut command = cargo();
        command.args(["rustc", "--lib", "--crate-type", "cdylib", "-p", "dpscope-wasm"]);
        command.args(["--profile", PROFILE, "--target", TARGET]);
        if self.has_lanes {
            command.args(["--config", LEVEL_OF_LANES]);
        }
        command.args(["--no-default-features", "--features", self.feature]);
        command.arg("--target-dir").arg(&target_folder);
        command.arg("--config").arg(format!("target.{TARGET}.rustflags={:?}", rust_flags()));
        command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
        succeed(&mut command)?;
        let built = target_folder.join(format!("{}.wasm", self.name));
        let module = target_folder.join(TARGET).join(PROFILE).join("dpscope_wasm.wasm");
        std::fs::copy(module, &built).context("dpscope_wasm.wasm")?;
        Ok(built)
    }
}

/// Four lanes of f32, no folder of this machine in messages of panics, and under `CI` no warning:
/// what one bundle leaves unused, only its build tells.
fn rust_flags() -> Vec<String> {
    let in_ci = std::env::var_os("CI").is_some();
    let flags = ["-Ctarget-feature=+simd128"].into_iter().chain(in_ci.then_some("-Dwarnings"));
    flags.map(str::to_owned).chain(without_home()).collect()
}

/// wasm-bindgen, a program of its own that is built on first use.
fn bindgen(input: &Path, folder: &Path, name: &str) -> Command {
    let mut command = cargo();
    command.args(["run", "--quiet", "--profile", "bindgen", "-p", "xtask"]);
    command.args(["--features", "bindgen", "--bin", "bindgen"]);
    command.arg("--").args([input, folder]).arg(name);
    command
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (std::fs::read(one), std::fs::read(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Names of the modules, without `_bg.wasm`.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    BUNDLES.iter().map(|bundle| bundle.name)
}

/// Builds what has changed.
pub(super) fn build() -> Result<()> {
    ensure_target(TARGET)?;
    // Whole-program optimisation uses one core: the bundle before is optimised on the others.
    std::thread::scope(|scope| {
        let optimising: Vec<_> = BUNDLES
            .iter()
            .map(|bundle| {
                let built = bundle.compile()?;
                Ok(scope.spawn(move || bundle.optimise(&built)))
            })
            .collect::<Result<_>>()?;
        optimising.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| bail!("a thread that optimises a bundle panicked"))
        })
    })
}
