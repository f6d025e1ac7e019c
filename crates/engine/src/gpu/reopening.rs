//! A device that is opened again after it was lost.

use std::sync::{Arc, Mutex};

use super::adapter::Adapter;
use super::open::lock;

/// How often a lost device is opened again before the CPU takes over.
const REOPENINGS: u64 = 3;

/// An adapter with the device that is open, as whatever a workload makes of it.
#[derive(Debug)]
pub struct Reopening<D> {
    adapter: Adapter,
    state: Mutex<State<D>>,
}

#[derive(Debug)]
struct State<D> {
    device: Arc<D>,
    opening: u64,
    most: u64,
}

impl<D> Reopening<D> {
    /// The first opening.
    pub fn new(adapter: &Adapter, device: D) -> Self {
        let state = State { device: Arc::new(device), opening: 1, most: 1 + REOPENINGS };
        Reopening { adapter: adapter.clone(), state: Mutex::new(state) }
    }

    /// The adapter.
    pub fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    /// The device that is open.
    pub fn device(&self) -> Arc<D> {
        lock(&self.state).device.clone()
    }

    /// How often it has been opened.
    pub fn opening(&self) -> u64 {
        lock(&self.state).opening
    }

    /// Opens the device again; returns whether this call did, or an earlier one since `opening`.
    ///
    /// # Errors
    /// It was opened several times; the device is gone; an error of `open`.
    pub async fn reopen<F: Future<Output = Result<D, String>>>(
        &self,
        opening: u64,
        open: impl FnOnce(Adapter) -> F,
    ) -> Result<bool, String> {
        {
            let mut state = lock(&self.state);
            if state.opening != opening {
                return Ok(false);
            }
            if state.opening >= state.most {
                return Err("it was already reopened several times".to_owned());
            }
            state.opening += 1;
        }
        let adapter =
            self.adapter.found_again().await.ok_or("the device is no longer available")?;
        let device = Arc::new(open(adapter).await?);
        lock(&self.state).device = device;
        Ok(true)
    }

    /// Prevents lost devices from being opened again. For tests.
    #[doc(hidden)]
    pub fn forbid(&self) {
        lock(&self.state).most = 0;
    }
}
