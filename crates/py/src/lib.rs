//! The native part of the Python package `dpscope`: commands of the program with files in memory.
//!
//! A command runs on a thread of its own, without the interpreter. The thread that called waits for it,
//! sees Ctrl-C, reports progress and calls functions of the user; where one of these raises an exception,
//! the command is stopped. A generator may raise an `Exception`: its run has failed.

mod scores;

use pyo3::pymodule;

#[pymodule(name = "_native")]
mod native {
    use std::ffi::OsString;
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
    use std::time::Duration;

    use dpscope::{
        Call, CallResult, ErrorCode, ErrorReport, GeneratorError, GeneratorFunction, GeneratorRun,
        Steps, Supervisor,
    };
    use pyo3::create_exception;
    use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyRuntimeError, PyValueError};
    use pyo3::prelude::*;
    use pyo3::types::{PyBytes, PyDict};

    #[pymodule_export]
    use crate::scores::CalibratedScores;

    create_exception!(dpscope, DpscopeError, PyValueError, "Input that the program refuses.");

    /// How long a command runs before Ctrl-C and progress are looked at again.
    const PAUSE: Duration = Duration::from_millis(50);

    /// Stack size of a command's thread: that of the program's main thread.
    const STACK: usize = 8 << 20;

    /// What the thread of a command sends to the one that called.
    enum Message {
        Ended(Result<CallResult, ErrorReport>),
        /// A run of a generator, and where its end is awaited.
        Release(GeneratorRun, Sender<Result<(), GeneratorError>>),
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("DpscopeError", module.py().get_type::<DpscopeError>())
    }

    /// Run a command; `files` are read from memory, `outputs` are written to it.
    ///
    /// Returns what was printed, the content of the outputs, and notes. `progress` is called with the
    /// results so far and in all, `generator` with data, columns and their kinds, seed, number of rows and
    /// output of each run of a generator.
    #[pyfunction]
    #[pyo3(signature = (arguments, files, outputs, progress=None, generator=None))]
    fn run<'py>(
        py: Python<'py>,
        arguments: Vec<OsString>,
        files: Vec<(PathBuf, Vec<u8>)>,
        outputs: Vec<PathBuf>,
        progress: Option<Bound<'py, PyAny>>,
        generator: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(String, Bound<'py, PyDict>, Vec<String>)> {
        let files = files.into_iter().collect();
        let call = Call { arguments, files, outputs, ..Call::default() };
        let supervisor = Arc::<Supervisor>::default();
        let callbacks = Callbacks { progress, generator };
        let result = supervised(py, call, &supervisor, &callbacks);
        let CallResult { text, outputs, notes, .. } = result?.map_err(exception)?;
        let written = PyDict::new(py);
        for (path, bytes) in outputs {
            written.set_item(path.as_os_str(), PyBytes::new(py, &bytes))?;
        }
        Ok((text, written, notes))
    }

    /// The options of every command, as a JSON document.
    #[pyfunction]
    fn option_table() -> PyResult<String> {
        dpscope::option_table().map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Findings about a training from a record of its first steps; both are JSON documents.
    #[pyfunction]
    fn check_step(py: Python<'_>, record: String) -> PyResult<String> {
        py.detach(|| dpscope::check_step(&record)).map_err(exception)
    }

    /// What batches show of the sampler that drew them, as a JSON document.
    ///
    /// `records` are the record numbers of all batches, `batch_sizes` their numbers of records and
    /// `batches_per_epoch` those of batches, as 32-bit numbers in little-endian order. `repeated` says
    /// whether a second loader of the same function drew the same batches.
    #[pyfunction]
    #[pyo3(signature = (records, batch_sizes, batches_per_epoch, dataset_size, rate=None, repeated=None))]
    fn check_loader(
        py: Python<'_>,
        records: &[u8],
        batch_sizes: &[u8],
        batches_per_epoch: &[u8],
        dataset_size: u64,
        rate: Option<f64>,
        repeated: Option<bool>,
    ) -> PyResult<String> {
        let numbers = |bytes: &[u8]| -> Vec<u32> {
            let (whole, _) = bytes.as_chunks();
            whole.iter().map(|number| u32::from_le_bytes(*number)).collect()
        };
        let check = || {
            let [records, sizes, batches] = [records, batch_sizes, batches_per_epoch].map(numbers);
            dpscope::check_loader(&records, &sizes, &batches, dataset_size, rate, repeated)
        };
        py.detach(check).map_err(exception)
    }

    /// Most bytes of an array, by the memory that is available.
    #[pyfunction]
    fn readable_bytes() -> u64 {
        dpscope::readable_bytes()
    }

    /// Characters of an exception that are kept, as the reason for a failed run and in its log.
    const MOST_REASON: usize = 4096;
    const MOST_LOG: usize = 1 << 18;

    /// Functions of the user.
    struct Callbacks<'py> {
        progress: Option<Bound<'py, PyAny>>,
        generator: Option<Bound<'py, PyAny>>,
    }

    impl Callbacks<'_> {
        /// Executes a run of a generator.
        fn release(
            &self,
            py: Python<'_>,
            run: &GeneratorRun,
        ) -> PyResult<Result<(), GeneratorError>> {
            let Some(generator) = &self.generator else { return Ok(Err(GeneratorError::Stopped)) };
            let GeneratorRun { data, columns, seed, rows, out } = run;
            let columns: Vec<_> = columns.iter().map(|it| (it.name.as_str(), it.kind)).collect();
            let raised =
                match generator.call1((data.as_os_str(), columns, *seed, *rows, out.as_os_str())) {
                    Ok(_) => return Ok(Ok(())),
                    Err(raised) if raised.is_instance_of::<PyException>(py) => raised,
                    Err(stopping) => return Err(stopping),
                };
            let traceback = raised.traceback(py).and_then(|it| it.format().ok());
            let message = raised.to_string();
            let log = format!("{}{message}\n", traceback.unwrap_or_default());
            let log = log.chars().take(MOST_LOG).collect();
            let reason = message.chars().take(MOST_REASON).collect::<String>();
            let reason = reason.replace(['\n', '\r'], " ");
            Ok(Err(GeneratorError::Failed { reason, log }))
        }
    }

    /// Executes the runs on the thread that called.
    fn forwarded(messages: Sender<Message>) -> GeneratorFunction {
        GeneratorFunction::new(move |run| {
            let (sender, end) = channel();
            let sent = messages.send(Message::Release(run.clone(), sender));
            sent.ok().and_then(|()| end.recv().ok()).unwrap_or(Err(GeneratorError::Stopped))
        })
    }

    /// Runs the command on a thread, and waits until it has ended, an exception or not.
    fn supervised(
        py: Python<'_>,
        mut call: Call,
        supervisor: &Arc<Supervisor>,
        callbacks: &Callbacks<'_>,
    ) -> PyResult<Result<CallResult, ErrorReport>> {
        let (sender, receiver) = channel();
        let watched = Arc::clone(supervisor);
        call.generator = callbacks.generator.as_ref().map(|_| forwarded(sender.clone()));
        let command = move || sender.send(Message::Ended(call.run(&watched)));
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(command)?;
        let result = awaited(py, receiver, supervisor, callbacks);
        if result.is_err() {
            supervisor.stop();
        }
        // it may still hold files; a panic is reported by the closed channel
        let _ = py.detach(|| thread.join());
        result
    }

    /// Waits for the result, and serves the messages before it.
    fn awaited(
        py: Python<'_>,
        mut receiver: Receiver<Message>,
        supervisor: &Supervisor,
        callbacks: &Callbacks<'_>,
    ) -> PyResult<Result<CallResult, ErrorReport>> {
        let mut shown = Steps::default();
        let mut show = || -> PyResult<()> {
            let steps = supervisor.steps();
            if let Some(progress) = callbacks.progress.as_ref().filter(|_| steps != shown) {
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
                Ok(Message::Ended(result)) => return Ok(result),
                // a command that is no longer waiting has ended
                Ok(Message::Release(run, end)) => drop(end.send(callbacks.release(py, &run)?)),
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
