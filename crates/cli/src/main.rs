//! The program `dpscope`.

use std::process::ExitCode;

fn main() -> ExitCode {
    dpscope::main()
}
