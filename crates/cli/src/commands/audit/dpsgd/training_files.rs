//! Files of a training run.

use std::path::Path;

use dpscope_train::data::Examples;

use super::DpSgdArgs;
use crate::args::DataArgs;
use crate::shell::{quoted, quoted_path};

/// Files that a training run reads and writes.
#[derive(Clone, Copy)]
pub(in crate::commands::audit) struct TrainingFiles<'a> {
    pub(in crate::commands::audit) data: &'a DataArgs,
    pub(in crate::commands::audit) outputs_to: Option<&'a Path>,
}

impl TrainingFiles<'_> {
    /// The options that `dpscope resume` needs again.
    pub(in crate::commands::audit) fn resume_options(&self, examples: &Examples) -> String {
        let mut out = String::new();
        if examples.load_summary().is_some() {
            let DataArgs { data, labels, classes } = self.data;
            let classes = classes
                .as_ref()
                .map(|classes| classes.iter().map(u32::to_string).collect::<Vec<_>>().join(","));
            let labels = labels.as_deref().map(quoted_path);
            let options =
                [("data", data.as_deref().map(quoted)), ("labels", labels), ("classes", classes)];
            for (name, value) in options {
                out.extend(value.map(|value| format!(" --{name} {value}")));
            }
        }
        let outputs_to = self.outputs_to.map(quoted_path);
        out.extend(outputs_to.map(|path| format!(" --outputs-to {path}")));
        out
    }
}

impl DpSgdArgs {
    pub(super) fn files(&self) -> TrainingFiles<'_> {
        TrainingFiles { data: &self.data, outputs_to: self.outputs_to.as_deref() }
    }
}
