//! Building the package for WebAssembly, and running it in node.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::comparison::BuildOutput;

const PACKAGE: &str = "dpscope-wasm-bits";
const TARGET: &str = "wasm32-unknown-unknown";

/// A way to compile the package.
#[derive(Debug)]
pub(crate) struct Build {
    pub(crate) name: &'static str,
    rustflags: &'static str,
    pub(crate) simd: bool,
}

pub(crate) const BUILDS: [Build; 2] = [
    Build { name: "plain", rustflags: "", simd: false },
    Build { name: "simd128", rustflags: "-C target-feature=+simd128", simd: true },
];

/// Why nothing can be run here, if so.
pub(crate) fn missing() -> Option<String> {
    let libraries = output(rustc().args(["--print", "target-libdir", "--target", TARGET]));
    let installed = libraries.is_ok_and(|folder| Path::new(folder.trim()).is_dir());
    if !installed {
        return Some(format!("the compile target {TARGET} is not installed"));
    }
    let node = output(Command::new("node").arg("--version"));
    node.is_err().then(|| "node is not installed".to_string())
}

/// Builds the package and runs it; one build after the other, for the next overwrites the module.
pub(crate) fn printed(build: &Build) -> Result<BuildOutput, String> {
    // One folder for both builds, which share what is built for the host, apart from the
    // workspace's own.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(PACKAGE);
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--release", "--quiet", "-p", PACKAGE, "--target", TARGET]);
    command.arg("--target-dir").arg(&folder).current_dir(root());
    command.env_remove("CARGO_ENCODED_RUSTFLAGS").env("RUSTFLAGS", build.rustflags);
    // Bits do not depend on how crates are linked, and this builds in half the time.
    command.env("CARGO_PROFILE_RELEASE_LTO", "off");
    command.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    output(&mut command)?;
    let module = folder.join(TARGET).join("release/dpscope_wasm_bits.wasm");
    let text = output(Command::new("node").arg(root().join("tests/wasm/run.mjs")).arg(module))?;
    BuildOutput::parse(&text)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn rustc() -> Command {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.current_dir(root());
    command
}

/// What a command prints where it succeeds; what it complained of where it does not.
fn output(command: &mut Command) -> Result<String, String> {
    let shown = format!("{command:?}");
    let output = command.stdin(Stdio::null()).output().map_err(|e| format!("{shown}: {e}"))?;
    if output.status.success() {
        return String::from_utf8(output.stdout).map_err(|e| format!("{shown}: {e}"));
    }
    Err(format!("{shown}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
}
