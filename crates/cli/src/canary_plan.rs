//! The folder of a committed plan: `plan.json`, `seed.secret`, `coins.npy`, `commitment.txt`.

use std::fs;
use std::io::Write;
use std::path::Path;

use dpscope_core::audit::one_shot::CanaryDesign;
use dpscope_core::random::{Purpose, Words};
use dpscope_formats::{CanariesDigest, CoinSeed, FormatError, write_coins, write_copies};
use dpscope_report::record::{OneRunPlan, PlannedGame};
use dpscope_simulation::noisy_sum::canary_number;

use crate::failure::{Exit, Failure};
use crate::files::{cannot_write, limits, read, read_text, write_atomically, write_text};

/// Larger plans and seeds are no plans.
pub(crate) const MOST_BYTES: u64 = 1 << 20;

/// More coins are no plan.
pub(crate) const MOST_COINS: u64 = 1 << 27;

pub(crate) const PLAN: &str = "plan.json";
pub(crate) const SEED: &str = "seed.secret";
const COINS: &str = "coins.npy";
pub(crate) const COMMITMENT: &str = "commitment.txt";
const NONCE: &str = "nonce.txt";
/// Digest of the first audited scores.
pub(crate) const SCORED: &str = "audited.txt";

/// A plan with the seed that its commitment was made with.
pub(crate) struct CommittedPlan {
    pub(crate) plan: OneRunPlan,
    pub(crate) seed: CoinSeed,
    nonce: Vec<u8>,
}

impl CommittedPlan {
    /// Draws a seed, writes the files of a plan, and returns the commitment.
    pub(crate) fn commit(folder: &Path, plan: &OneRunPlan) -> Result<String, Failure> {
        fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
        for name in [PLAN, SEED, COINS, COMMITMENT] {
            if folder.join(name).exists() {
                let problem =
                    "exists: a committed plan is never overwritten; choose another folder";
                return Err(Failure::input(problem).about(&folder.join(name)));
            }
        }
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| {
            Failure::with(Exit::Internal, format!("no entropy from the system ({error})"))
        })?;
        let seed = CoinSeed::new(bytes);
        let text = serde_json::to_string_pretty(plan)
            .map_err(|error| Failure::with(Exit::Internal, error))?
            + "\n";
        let digest = digest_of(plan, &folder.join(PLAN))?;
        let commitment = hex(&seed.commitment(&digest, text.as_bytes()));
        write_text(&folder.join(PLAN), &text)?;
        write_secret(&folder.join(SEED), &format!("{}\n", hex(&bytes)))?;
        write_text(&folder.join(COMMITMENT), &format!("{commitment}\n"))?;
        let committed = CommittedPlan { plan: plan.clone(), seed, nonce: Vec::new() };
        committed.write_coins(folder)?;
        Ok(commitment)
    }

    /// Draws the coins of a committed plan anew, with bytes that were published after the commitment.
    pub(crate) fn add_nonce(folder: &Path, nonce: &str) -> Result<(), Failure> {
        if folder.join(NONCE).exists() {
            let problem = "exists: coins are drawn with one nonce only";
            return Err(Failure::input(problem).about(&folder.join(NONCE)));
        }
        if folder.join(SCORED).exists() {
            let problem = "exists: scores of this plan were audited, so its coins are fixed";
            return Err(Failure::input(problem).about(&folder.join(SCORED)));
        }
        if nonce.is_empty() {
            return Err(Failure::input("--nonce is empty: pass an even number of digits 0-9, a-f"));
        }
        let found = Self::open(folder, None)?;
        let nonce = unhex(nonce).ok_or_else(|| {
            Failure::input("--nonce is not hexadecimal: pass an even number of digits 0-9, a-f")
        })?;
        let found = CommittedPlan { nonce, ..found };
        let nonce = hex(&found.nonce);
        // first, so that an interruption leaves no coins of another nonce
        let coins = folder.join(COINS);
        if coins.exists() {
            fs::remove_file(&coins).map_err(|error| cannot_write(&coins, &error))?;
        }
        write_text(&folder.join(NONCE), &format!("{nonce}\n"))?;
        found.write_coins(folder)
    }

    /// The bytes that were published after the commitment, hexadecimal; none if the coins follow from
    /// the seed alone.
    pub(crate) fn nonce(&self) -> Option<String> {
        (!self.nonce.is_empty()).then(|| hex(&self.nonce))
    }

    /// Whether the folder has the secret seed.
    pub(crate) fn has_seed(folder: &Path) -> bool {
        folder.join(SEED).exists()
    }

    /// Reads a plan and checks its commitment; the seed is in the folder, or in another file.
    pub(crate) fn open(folder: &Path, seed: Option<&Path>) -> Result<Self, Failure> {
        let path = folder.join(PLAN);
        let (plan, text) = read_plan(&path)?;
        let digest = digest_of(&plan, &path)?;
        let seed_path = seed.map_or_else(|| folder.join(SEED), Path::to_path_buf);
        let bytes = secret(&seed_path)?;
        let found = CoinSeed::new(bytes);
        let commitment_path = folder.join(COMMITMENT);
        let committed = read_text(&commitment_path, MOST_BYTES)?;
        let expected = hex(&found.commitment(&digest, text.as_bytes()));
        if committed.trim() != expected {
            let problem = format!(
                "is not the commitment to this plan and seed ({expected}): one of them was changed \
                 after the coins were committed, so there is no bound"
            );
            return Err(Failure::with(Exit::Artefact, problem).about(&commitment_path));
        }
        let nonce_path = folder.join(NONCE);
        let nonce = match nonce_path.exists() {
            true => unhex(read_text(&nonce_path, MOST_BYTES)?.trim())
                .ok_or_else(|| Failure::input("is not hexadecimal").about(&nonce_path))?,
            false => Vec::new(),
        };
        let found = CommittedPlan { plan, seed: found, nonce };
        found.check_coins(&folder.join(COINS))?;
        Ok(found)
    }

    /// How often each canary of a pool is included: a Poisson number of draws.
    pub(crate) fn copies(&self, mean: f64) -> Vec<u8> {
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

    /// What is in coins.npy.
    fn numbers(&self) -> Vec<u8> {
        match self.plan.game {
            PlannedGame::Poisson(mean) => self.copies(mean),
            _ => self.coins().concat().into_iter().map(u8::from).collect(),
        }
    }

    /// Whether each canary is included, run by run.
    pub(crate) fn coins(&self) -> Vec<Vec<bool>> {
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

    /// Compares a file of coins with those of the seed.
    pub(crate) fn check_coins(&self, path: &Path) -> Result<(), Failure> {
        if !path.exists() {
            return Ok(()); // the seed determines them
        }
        let bytes = read(path, &limits())?;
        let array = dpscope_formats::read_npy(&bytes, &limits());
        let array = array.map_err(|error| Failure::from(error).about(path))?;
        let numbers = self.numbers().into_iter().map(f64::from);
        let is_same = numbers.eq(array.data().iter().copied());
        if is_same {
            return Ok(());
        }
        let problem =
            "differs from the coins of the committed seed: the training may have used other coins";
        Err(Failure::with(Exit::Artefact, problem).about(path))
    }

    /// Checks that canaries are those of the plan.
    pub(crate) fn check_canaries(&self, path: &Path) -> Result<(), Failure> {
        check_digest(&self.plan, path)
    }

    /// Whether other scores of this plan were audited before.
    pub(crate) fn is_second(folder: &Path, digests: &[String]) -> Result<bool, Failure> {
        let before = audited(folder)?;
        Ok(before.iter().zip(digests).any(|(before, digest)| before != digest))
    }

    /// Remembers the audited scores, run by run; scores that were refused leave the plan as it is.
    pub(crate) fn remember(folder: &Path, digests: &[String]) -> Result<(), Failure> {
        if audited(folder)?.len() >= digests.len() {
            return Ok(());
        }
        write_text(&folder.join(SCORED), &(digests.join("\n") + "\n"))
    }

    fn write_coins(&self, folder: &Path) -> Result<(), Failure> {
        let path = folder.join(COINS);
        let bytes = match self.plan.game {
            PlannedGame::Poisson(mean) => write_copies(&self.copies(mean)),
            _ => write_coins(&self.coins()),
        };
        write_atomically(&path, &bytes).map_err(|error| cannot_write(&path, &error))
    }
}

/// Digests of the scores of a plan that were audited.
fn audited(folder: &Path) -> Result<Vec<String>, Failure> {
    let path = folder.join(SCORED);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = read_text(&path, MOST_BYTES)?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

/// Reads a plan and its text.
fn read_plan(path: &Path) -> Result<(OneRunPlan, String), Failure> {
    let text = read_text(path, MOST_BYTES)?;
    let plan: OneRunPlan = serde_json::from_str(&text)
        .map_err(|error| Failure::input(format!("is not a plan: {error}")).about(path))?;
    if plan.schema != OneRunPlan::SCHEMA {
        let problem = format!("is not a plan of this version: {}", OneRunPlan::SCHEMA);
        return Err(Failure::input(problem).about(path));
    }
    let size = u64::from(plan.game.set_size().unwrap_or(1));
    let is_drawn = plan.canaries.checked_mul(plan.runs).is_some_and(|coins| coins <= MOST_COINS);
    if plan.runs == 0 || !is_drawn || size == 0 || !plan.canaries.is_multiple_of(size) {
        let problem = format!(
            "has {} canaries, sets of {size} and {} runs: the set size must divide the canaries, \
             and canaries times runs must be at most {MOST_COINS}",
            plan.canaries, plan.runs
        );
        return Err(Failure::input(problem).about(path));
    }
    let bad_mean = match plan.game {
        PlannedGame::Poisson(mean) => !(mean >= 1.0 && mean <= plan.canaries as f64),
        _ => false,
    };
    if bad_mean || (matches!(plan.game, PlannedGame::Poisson(_)) && plan.runs != 1) {
        let problem =
            "draws canaries of a pool in one run, on average at least 1 and at most the pool";
        return Err(Failure::input(problem).about(path));
    }
    Ok((plan, text))
}

fn check_digest(plan: &OneRunPlan, path: &Path) -> Result<(), Failure> {
    let (found, planned) = (digest_of_file(path)?, &plan.canaries_digest);
    if found == *planned {
        return Ok(());
    }
    let problem = format!(
        "has digest {found}, and the plan {planned}: these are not the canaries that were committed"
    );
    Err(Failure::with(Exit::Artefact, problem).about(path))
}

/// Checks canaries against a plan whose seed is not revealed yet.
pub(crate) fn check_published(folder: &Path, canaries: &Path) -> Result<(), Failure> {
    check_digest(&read_plan(&folder.join(PLAN))?.0, canaries)
}

/// SHA-256 of the arrays of a file, hexadecimal.
pub(crate) fn digest_of_file(path: &Path) -> Result<String, Failure> {
    let bytes = read(path, &limits())?;
    let digest = CanariesDigest::of_file(&bytes, &limits());
    let digest = digest.map_err(|error: FormatError| Failure::from(error).about(path))?;
    Ok(hex(&digest))
}

fn digest_of(plan: &OneRunPlan, path: &Path) -> Result<[u8; 32], Failure> {
    let digest = unhex(&plan.canaries_digest).and_then(|bytes| bytes.try_into().ok());
    digest.ok_or_else(|| {
        Failure::input("canaries_digest is not a SHA-256 of 64 hexadecimal digits").about(path)
    })
}

pub(crate) fn secret(path: &Path) -> Result<[u8; 32], Failure> {
    let text = read_text(path, MOST_BYTES)?;
    let bytes = unhex(text.trim()).and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| Failure::input("is not a seed: expected 64 hexadecimal digits").about(path))
}

/// Only its owner can read the file.
pub(crate) fn write_secret(path: &Path, text: &str) -> Result<(), Failure> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| cannot_write(path, &error))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).map(|value| value as u8)).collect();
    let digits = digits?;
    let is_whole = digits.len() % 2 == 0;
    is_whole.then(|| digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_text_round_trips() {
        assert_eq!(unhex(&hex(&[0, 9, 255])), Some(vec![0, 9, 255]));
        assert_eq!((unhex("abc"), unhex("zz"), unhex("é")), (None, None, None));
    }
}
