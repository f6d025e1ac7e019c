//! Commands that another program runs in its own process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Once};

use dpscope_report::record::ErrorReport;

use crate::failure::{CommandResult, Exit, error_report};
use crate::generator_function::GeneratorFunction;
use crate::host::{Memory, Rendered, Supervisor, with_handover, with_memory};
use crate::program::{execute, silence_caught_panics};

/// A command, with files in memory.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// The command line, without the name of the program.
    pub arguments: Vec<OsString>,
    /// Files that are read from memory, by the paths in the arguments.
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    /// Files that are written to memory, by the paths in the arguments.
    pub outputs: Vec<PathBuf>,
    /// Executes the runs of `generator run`, in place of `--command`.
    pub generator: Option<GeneratorFunction>,
    /// Whether the report of an audit is printed as its document, and also rendered for readers.
    pub renders: bool,
}

/// What a command left.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    /// What it printed: one document under `--json`.
    pub text: String,
    /// The files written to memory; empty where nothing was written.
    pub outputs: BTreeMap<PathBuf, Vec<u8>>,
    /// Notes and warnings.
    pub notes: Vec<String>,
    /// The exit code of the program.
    pub exit_code: u8,
    /// The report of an audit, if the call renders it.
    pub rendered: Option<Box<Rendered>>,
}

impl Call {
    /// Runs the command on this thread until it ends or is stopped. Signals are left to the caller.
    ///
    /// # Errors
    /// What the program prints under `--json` where it fails.
    pub fn run(self, supervisor: &Arc<Supervisor>) -> Result<CallResult, ErrorReport> {
        let (result, memory) = self.execute_in_memory(supervisor);
        let exit = result.map_err(|failure| failure.report())?;
        let Memory { outputs, text, notes, rendered, .. } = memory;
        Ok(CallResult { text, outputs, notes, exit_code: exit as u8, rendered })
    }

    /// Prepares the workload of a command, such as the models of `audit dpsgd`, for a caller who computes
    /// it in parts. A command without a workload is executed whole.
    ///
    /// # Errors
    /// What the program prints under `--json` where it fails; a command with another workload.
    pub fn workload<W: 'static>(self) -> Result<W, ErrorReport> {
        let ((result, _), prepared) = with_handover(|| self.execute_in_memory(&Arc::default()));
        result.map_err(|failure| failure.report())?;
        let workload = prepared.and_then(|prepared| prepared.downcast::<W>().ok());
        workload.map(|workload| *workload).ok_or_else(|| {
            error_report(Exit::Internal, "this command prepares no such workload".to_owned())
        })
    }

    fn execute_in_memory(self, supervisor: &Arc<Supervisor>) -> (CommandResult, Memory) {
        static SILENCED: Once = Once::new();
        SILENCED.call_once(silence_caught_panics);
        let memory = Memory {
            arguments: self.arguments.clone(),
            files: self.files,
            outputs: self.outputs.into_iter().map(|path| (path, Vec::new())).collect(),
            generator: self.generator,
            supervisor: Arc::clone(supervisor),
            renders: self.renders,
            ..Memory::default()
        };
        with_memory(memory, || execute(self.arguments))
    }
}

#[cfg(test)]
mod tests {
    use dpscope_engine::Workload;
    use dpscope_train::TrainedModels;
    use dpscope_train::one_run::OneRunModels;

    use super::*;

    fn call(line: &str, files: &[(&str, &str)]) -> Result<CallResult, ErrorReport> {
        let files = files.iter().map(|(name, text)| (name.into(), text.as_bytes().to_vec()));
        let call = Call {
            arguments: line.split(' ').map(OsString::from).collect(),
            files: files.collect(),
            outputs: vec!["plot.svg".into()],
            ..Call::default()
        };
        call.run(&Arc::default())
    }

    #[test]
    fn files_and_text_are_in_memory() {
        let scores = [("in.csv", "3\n4\n5\n4\n3\n4\n"), ("out.csv", "0\n1\n2\n0\n1\n2\n")];
        let line = "audit scores --target in.csv --zero-out out.csv --plot plot.svg --json";
        let result = call(line, &scores).unwrap();
        assert!(result.text.starts_with('{') && result.exit_code == 0, "{result:?}");
        assert!(result.outputs[&PathBuf::from("plot.svg")].starts_with(b"<svg"));
        assert!(!PathBuf::from("plot.svg").exists());
        let missing = call(line, &scores[..1]).unwrap_err();
        assert_eq!(missing.file.as_deref(), Some("out.csv"));
    }

    #[test]
    fn a_wrong_command_line_is_an_error_without_advice_on_usage() {
        let error = call("audit counts --delta 2", &[]).unwrap_err();
        assert!(error.message.contains("--delta") && !error.message.contains("Usage"), "{error:?}");
    }

    #[test]
    fn a_stopped_command_is_interrupted() {
        let supervisor = Arc::<Supervisor>::default();
        supervisor.stop();
        let line = "audit bgm --noise-multiplier 1 --steps 100 --observations 1e6 --device cpu";
        let call =
            Call { arguments: line.split(' ').map(OsString::from).collect(), ..Call::default() };
        let exit_code = call.run(&supervisor).map_or_else(|error| error.exit_code, |r| r.exit_code);
        assert_eq!(exit_code, 130);
    }

    #[test]
    fn a_workload_is_handed_to_a_caller_who_asks() {
        let line = "audit dpsgd --records 40 --batch-size 20 --noise-multiplier 1 --runs 4 \
                    --device cpu --threads 1 --seed 1 --json";
        let call = |line: &str| Call {
            arguments: line.split_whitespace().map(OsString::from).collect(),
            ..Call::default()
        };
        let models: TrainedModels = call(line).workload().unwrap();
        assert_eq!(models.plan().observations, 4);
        let another = call(line).workload::<OneRunModels>().unwrap_err();
        let none = call("devices --json").workload::<TrainedModels>().unwrap_err();
        for error in [another, none] {
            assert!(error.message.contains("no such workload"), "{error:?}");
        }
        let refused = call(&line.replace("--runs 4", "--runs 3")).workload::<TrainedModels>();
        assert!(refused.unwrap_err().message.contains("--runs"));
        assert!(call(line).run(&Arc::default()).unwrap().text.contains("epsilon"));
    }
}
