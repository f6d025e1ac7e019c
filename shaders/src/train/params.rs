//! Parameters of a pass: the uniform `params` of `params.wgsl`.

/// Parameters of a pass over rows of one step, for all models of a wave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PassParams {
    /// The seed.
    pub seed: u64,
    /// The first run of the wave, in both worlds.
    pub first_run: u64,
    /// Number of runs of each world in the wave; model m is run m mod `runs` of world m ÷ `runs`.
    pub runs: u32,
    /// The step within its epoch.
    pub step: u32,
    /// Index of the first [`Order`](super::Order) of the epoch.
    pub first_order: u64,
    /// First block of random words of the step's noise.
    pub first_block: u64,
    /// The first row of the pass within the batch.
    pub first_row: u32,
    /// Index of the step's output: number of earlier steps of the run.
    pub output: u32,
    /// First workgroup of each model in this dispatch.
    pub first_group: u32,
}

impl PassParams {
    /// The 4-byte fields of the uniform `params`, by name and in order.
    #[must_use]
    pub fn fields(&self) -> [(&'static str, u32); 15] {
        [
            ("seed_low", self.seed as u32),
            ("seed_high", (self.seed >> 32) as u32),
            ("first_run_low", self.first_run as u32),
            ("first_run_high", (self.first_run >> 32) as u32),
            ("runs", self.runs),
            ("step", self.step),
            ("order_low", self.first_order as u32),
            ("order_high", (self.first_order >> 32) as u32),
            ("block_low", self.first_block as u32),
            ("block_high", (self.first_block >> 32) as u32),
            ("first_row", self.first_row),
            ("is_first_pass", u32::from(self.first_row == 0)),
            ("output", self.output),
            ("first_group", self.first_group),
            ("zero", 0),
        ]
    }

    /// The fields without names.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        self.fields().iter().map(|field| field.1).collect()
    }
}
