//! The native part of the Python package `dpscope`: commands of the program with files in memory.
//!
//! A command runs on a thread of its own, without the interpreter. The thread that called waits for it,
//! sees Ctrl-C and reports progress; where either raises an exception, the command is stopped.

use pyo3::pymodule;

#[pymodule(name = "_native")]
mod native {
    use std::ffi::OsString;
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    use dpscope::{Call, CallResult, ErrorCode, ErrorReport, Steps, Supervisor};
    use pyo3::create_exception;
    use pyo3::exceptions::{PyKeyError, PyKeyboardInterrupt, PyRuntimeError, PyValueError};
    use pyo3::prelude::*;
    use pyo3::types::{PyBytes, PyDict};

    create_exception!(dpscope, DpscopeError, PyValueError, "Input that the program refuses.");

    /// How long a command runs before Ctrl-C and progress are looked at again.
    const PAUSE: Duration = Duration::from_millis(50);

    /// That of the program's main thread.
    const STACK: usize = 8 << 20;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("DpscopeError", module.py().get_type::<DpscopeError>())
    }

    /// Run a command; `files` are read from memory, `outputs` are written to it.
    ///
    /// Returns what was printed, the content of the outputs, and notes. `progress` is called with the
    /// results so far and in all.
    #[pyfunction]
    #[pyo3(signature = (arguments, files, outputs, progress=None))]
    fn run<'py>(
        py: Python<'py>,
        arguments: Vec<OsString>,
        files: Vec<(PathBuf, Vec<u8>)>,
        outputs: Vec<PathBuf>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(String, Bound<'py, PyDict>, Vec<String>)> {
        let call = Call { arguments, files: files.into_iter().collect(), outputs };
        let supervisor = Arc::<Supervisor>::default();
        let result = supervised(py, call, &supervisor, progress.as_ref());
        let CallResult { text, outputs, notes, .. } =
            result.inspect_err(|_| supervisor.stop())?.map_err(exception)?;
        let written = PyDict::new(py);
        for (path, bytes) in outputs {
            written.set_item(path.as_os_str(), PyBytes::new(py, &bytes))?;
        }
        Ok((text, written, notes))
    }

    /// Names of the options and arguments of a command.
    #[pyfunction]
    fn options(command: &str) -> PyResult<Vec<String>> {
        let words: Vec<&str> = command.split(' ').collect();
        dpscope::options(&words).ok_or_else(|| PyKeyError::new_err(command.to_owned()))
    }

    /// Waits for the command on its thread.
    fn supervised(
        py: Python<'_>,
        call: Call,
        supervisor: &Arc<Supervisor>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Result<CallResult, ErrorReport>> {
        let (sender, mut receiver) = channel();
        let watched = Arc::clone(supervisor);
        let command = move || sender.send(call.run(&watched));
        std::thread::Builder::new().stack_size(STACK).spawn(command)?;
        let mut shown = Steps::default();
        let mut show = || -> PyResult<()> {
            let steps = supervisor.steps();
            if let Some(progress) = progress.filter(|_| steps != shown) {
                shown = steps;
                progress.call1((steps.done, steps.total))?;
            }
            Ok(())
        };
        loop {
            let waited = py.detach(move || (receiver.recv_timeout(PAUSE), receiver));
            receiver = waited.1;
            py.check_signals()?;
            show()?;
            match waited.0 {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => {}
                // The thread panicked.
                Err(RecvTimeoutError::Disconnected) => {
                    let message = "internal error; please report it with the output above";
                    return Err(PyRuntimeError::new_err(message));
                }
            }
        }
    }

    fn exception(error: ErrorReport) -> PyErr {
        match error.code {
            ErrorCode::Internal => PyRuntimeError::new_err(error.message),
            ErrorCode::Interrupted => PyKeyboardInterrupt::new_err(error.message),
            _ => DpscopeError::new_err(error.message),
        }
    }
}
