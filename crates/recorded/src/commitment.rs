//! A committed plan: `plan.json`, `seed.secret`, `commitment.txt`, and where present `nonce.txt` and
//! `coins.npy`.

use dpscope_core::audit::one_shot::CanaryDesign;
use dpscope_core::foreign_text::ForeignText;
use dpscope_core::random::{Purpose, Words};
use dpscope_formats::{CanariesDigest, CoinSeed, read_npy, write_coins, write_copies};
use dpscope_report::record::{OneRunPlan, PlannedGame};
use dpscope_simulation::noisy_sum::canary_number;

use crate::{File, FileError, hex, unhex};

/// Larger plans and seeds are no plans.
pub const MOST_PLAN_BYTES: usize = 1 << 20;

/// More coins are no plan.
pub const MOST_COINS: u64 = 1 << 27;

/// The files of a plan.
#[derive(Debug, Clone, Copy)]
pub struct PlanFiles<'a> {
    /// `plan.json`.
    pub plan: File<'a>,
    /// `seed.secret`, revealed after the training.
    pub seed: File<'a>,
    /// `commitment.txt`, published before it.
    pub commitment: File<'a>,
    /// `nonce.txt`, published by others after the commitment.
    pub nonce: Option<File<'a>>,
    /// `coins.npy`; the seed determines them.
    pub coins: Option<File<'a>>,
}

/// A plan with the seed that its commitment was made with.
#[derive(Debug, Clone)]
pub struct CommittedPlan {
    /// What was fixed before the training.
    pub plan: OneRunPlan,
    /// What determines the coins.
    pub seed: CoinSeed,
    /// Published after the commitment; usually empty.
    pub nonce: Vec<u8>,
}

impl CommittedPlan {
    /// Reads a plan and compares its commitment, and its coins where there is a file of them.
    ///
    /// # Errors
    /// A file that cannot be read, a plan that no program writes, or one that was changed after the
    /// commitment.
    pub fn open(files: &PlanFiles<'_>) -> Result<Self, FileError> {
        let plan = read_plan(&files.plan)?;
        let seed = secret_of(&files.seed)?;
        let expected = commitment_of(&seed, &plan, &files.plan)?;
        if files.commitment.text(MOST_PLAN_BYTES)?.trim() != expected {
            return Err(files.commitment.changed(format!(
                "is not the commitment to this plan and seed ({expected}): one of them was changed \
                 after the coins were committed, so there is no bound"
            )));
        }
        let nonce = match &files.nonce {
            Some(nonce) => unhex(nonce.text(MOST_PLAN_BYTES)?.trim())
                .ok_or_else(|| nonce.refused("is not hexadecimal"))?,
            None => Vec::new(),
        };
        let found = Self { plan, seed, nonce };
        if let Some(coins) = &files.coins {
            found.check_coins(coins)?;
        }
        Ok(found)
    }

    /// The bytes that were published after the commitment, hexadecimal; none if the coins follow from
    /// the seed alone.
    #[must_use]
    pub fn nonce(&self) -> Option<String> {
        (!self.nonce.is_empty()).then(|| hex(&self.nonce))
    }

    /// How often each canary of a pool is included: a Poisson number of draws.
    #[must_use]
    pub fn copies(&self, mean: f64) -> Vec<u8> {
        let bits = self.seed.coins(64, &self.nonce);
        let seed = bits.iter().fold(0, |value, &bit| value << 1 | u64::from(bit));
        let mut words = Words::new(seed, Purpose::CanaryNumber, 0);
        let mut copies = vec![0_u8; self.plan.canaries as usize];
        for _ in 0..canary_number(CanaryDesign::Poisson { mean }, &mut words) {
            let drawn = words.below(self.plan.canaries as u32) as usize;
            copies[drawn] = copies[drawn].saturating_add(1);
        }
        copies
    }

    /// Whether each canary is included, run by run.
    #[must_use]
    pub fn coins(&self) -> Vec<Vec<bool>> {
        let (canaries, runs) = (self.plan.canaries as usize, self.plan.runs as usize);
        let all: Vec<bool> = match self.plan.game {
            PlannedGame::Coins => self.seed.coins(runs * canaries, &self.nonce),
            PlannedGame::Poisson(mean) => {
                self.copies(mean).into_iter().map(|copies| copies > 0).collect()
            }
            PlannedGame::Pairs => {
                let pairs = self.seed.coins(runs * canaries / 2, &self.nonce);
                pairs.into_iter().flat_map(|first| [first, !first]).collect()
            }
            PlannedGame::Sets(size) => {
                let sets = runs * canaries / size.max(1) as usize;
                let choices = self.seed.choices(sets, size, &self.nonce);
                let members = |choice: u32| (0..size).map(move |member| member == choice);
                choices.into_iter().flat_map(members).collect()
            }
        };
        all.chunks(canaries.max(1)).map(<[bool]>::to_vec).collect()
    }

    /// The bytes of `coins.npy`.
    #[must_use]
    pub fn coins_file(&self) -> Vec<u8> {
        match self.plan.game {
            PlannedGame::Poisson(mean) => write_copies(&self.copies(mean)),
            _ => write_coins(&self.coins()),
        }
    }

    /// Compares a file of coins with those of the seed.
    fn check_coins(&self, file: &File<'_>) -> Result<(), FileError> {
        let found = read_npy(file.bytes, file.limits).map_err(|error| file.unreadable(error))?;
        let numbers: Vec<u8> = match self.plan.game {
            PlannedGame::Poisson(mean) => self.copies(mean),
            _ => self.coins().into_iter().flatten().map(u8::from).collect(),
        };
        if numbers.into_iter().map(f64::from).eq(found.data().iter().copied()) {
            return Ok(());
        }
        Err(file.changed(
            "differs from the coins of the committed seed: the training may have used other coins",
        ))
    }

    /// What is published before the training.
    ///
    /// # Errors
    /// A digest of the canaries that is none.
    pub fn commitment(
        seed: &CoinSeed,
        plan: &OneRunPlan,
        file: &File<'_>,
    ) -> Result<String, FileError> {
        commitment_of(seed, plan, file)
    }

    /// Refuses canaries that are not those of the plan.
    ///
    /// # Errors
    /// Other canaries, or a file that cannot be read.
    pub fn check_canaries(plan: &OneRunPlan, file: &File<'_>) -> Result<(), FileError> {
        let found = CanariesDigest::of_file(file.bytes, file.limits);
        let found = hex(&found.map_err(|error| file.unreadable(error))?);
        if found == plan.canaries_digest {
            return Ok(());
        }
        let planned = &plan.canaries_digest;
        Err(file.changed(format!(
            "has digest {found}, and the plan {planned}: these are not the canaries that were \
             committed"
        )))
    }
}

/// The seed in `seed.secret`.
pub(crate) fn secret_of(file: &File<'_>) -> Result<CoinSeed, FileError> {
    let bytes = unhex(file.text(MOST_PLAN_BYTES)?.trim()).and_then(|bytes| bytes.try_into().ok());
    let bytes = bytes.ok_or_else(|| file.refused("is not a seed: expected 64 hexadecimal digits"));
    bytes.map(CoinSeed::new)
}

fn commitment_of(seed: &CoinSeed, plan: &OneRunPlan, file: &File<'_>) -> Result<String, FileError> {
    let digest = unhex(&plan.canaries_digest).and_then(|bytes| bytes.try_into().ok());
    let digest: [u8; 32] = digest
        .ok_or_else(|| file.refused("canaries_digest is not a SHA-256 of 64 hexadecimal digits"))?;
    Ok(hex(&seed.commitment(&digest, file.bytes)))
}

/// Reads a plan whose seed may still be secret.
///
/// # Errors
/// A file that is no plan, or numbers that no program plans.
pub fn read_plan(file: &File<'_>) -> Result<OneRunPlan, FileError> {
    let text = file.text(MOST_PLAN_BYTES)?;
    let plan: OneRunPlan = serde_json::from_str(text)
        .map_err(|error| file.refused(format!("is not a plan: {}", ForeignText::of(error))))?;
    if plan.schema != OneRunPlan::SCHEMA {
        let why = format!("is not a plan of this version: {}", OneRunPlan::SCHEMA);
        return Err(file.refused(why));
    }
    if plan.deltas.is_empty() {
        return Err(file.refused("has no delta; a plan states at least one"));
    }
    let most = MOST_COINS.min(file.limits.max_elements);
    let size = u64::from(plan.game.set_size().unwrap_or(1));
    let is_drawn = plan.canaries.checked_mul(plan.runs).is_some_and(|coins| coins <= most);
    if plan.runs == 0 || !is_drawn || size == 0 || !plan.canaries.is_multiple_of(size) {
        return Err(file.refused(format!(
            "has {} canaries, sets of {size} and {} runs: the set size must divide the canaries, and \
             canaries times runs must be at most {most}",
            plan.canaries, plan.runs
        )));
    }
    if let PlannedGame::Poisson(mean) = plan.game
        && (plan.runs != 1 || !(mean >= 1.0 && mean <= plan.canaries as f64))
    {
        let why = "draws canaries of a pool in one run, on average at least 1 and at most the pool";
        return Err(file.refused(why));
    }
    Ok(plan)
}
