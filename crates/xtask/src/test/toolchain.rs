//! Installs what a step needs and the machine lacks: compile targets, rustfmt, clippy, packages of
//! npm and Debian. Larger programs are left to the user.

use anyhow::Result;

use super::browser;
use super::steps::{Need, Step};
use crate::python::pythons;
use crate::toolchain::{ensure_component, ensure_target};

/// Makes sure that the step can run: through rustup, npm or apt-get where something is missing.
pub(super) fn ensure(step: &Step, in_ci: bool) -> Result<()> {
    step.target.map_or(Ok(()), ensure_target)?;
    if let Some(target) = step.used_target
        && let Err(reason) = ensure_target(target)
    {
        println!("{reason:#}; tests that need it cannot run");
    }
    step.component.map_or(Ok(()), ensure_component)?;
    step.needs.iter().try_for_each(|need| match need {
        Need::Node => browser::ensure_node(),
        Need::Chromium => browser::ensure_chromium(in_ci),
        Need::Python => browser::ensure_python(in_ci),
        Need::RecentPython => {
            browser::ensure_python(in_ci)?;
            pythons().map(drop)
        }
    })
}
