//! Files of one run: scores with coins, or with a committed plan.

use dpscope_core::random::content_seed;
use dpscope_formats::{Array, CoinSeed, FormatError, read_npy};
use dpscope_report::record::{OneRunPlan, PlannedGame};

use crate::failure::{Failure, FailureKind};
use crate::file::{File, limits, opened, unreadable, with_remedy};

/// Larger plans and seeds are no plans.
const MOST_BYTES: usize = 1 << 20;

/// A file with what it contains.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoleFile<'a> {
    pub(super) role: &'a str,
    pub(super) file: File<'a>,
}

/// All files of an audit.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunFiles<'a>(pub(super) &'a [RoleFile<'a>]);

impl<'a> RunFiles<'a> {
    pub(super) fn get(&self, role: &str) -> Option<File<'a>> {
        self.0.iter().find(|found| found.role == role).map(|found| found.file)
    }

    pub(super) fn name(&self, role: &str) -> Option<&'a str> {
        self.get(role).map(|file| file.name)
    }

    fn wanted(&self, role: &'static str) -> Result<File<'a>, Failure> {
        self.get(role).ok_or_else(|| Failure::missing(role))
    }

    /// One score per canary; several queries of each are averaged.
    pub(super) fn scores(&self, role: &'static str) -> Result<Vec<f64>, Failure> {
        let file = self.wanted(role)?;
        averaged(array_of(role, file)?).map_err(|why| unreadable(role, file.name, &why))
    }

    /// The coins of a file: 1 for an included canary.
    pub(super) fn coins(&self) -> Result<Vec<bool>, Failure> {
        let file = self.wanted("coins")?;
        let coins = array_of("coins", file)?.into_data();
        let other = coins.iter().enumerate().find(|(_, coin)| ![0.0, 1.0].contains(*coin));
        if let Some((index, value)) = other {
            let why = format!("has {value} at index {index}; coins are 0 or 1");
            return Err(unreadable("coins", file.name, &why));
        }
        Ok(coins.into_iter().map(|coin| coin != 0.0).collect())
    }

    /// The plan with its seed; the commitment, and coins where there are some, are verified.
    pub(super) fn plan(&self) -> Result<Option<CommittedPlan>, Failure> {
        let Some(file) = self.get("plan") else { return Ok(None) };
        let refused = |why: &dyn std::fmt::Display| unreadable("plan", file.name, why);
        let bytes = within(file.bytes).map_err(|why| refused(&why))?;
        let plan: OneRunPlan = serde_json::from_slice(bytes)
            .map_err(|error| refused(&format!("is not a plan: {error}")))?;
        if plan.schema != OneRunPlan::SCHEMA {
            return Err(refused(&format!("is not a plan of this version: {}", OneRunPlan::SCHEMA)));
        }
        if plan.runs != 1 {
            return Err(refused(&"has several runs: `dpscope audit one-run` audits them together"));
        }
        if matches!(plan.game, PlannedGame::Poisson(_)) {
            return Err(refused(&"draws canaries of a pool: `dpscope audit one-run` audits them"));
        }
        let size = u64::from(plan.game.set_size().unwrap_or(1));
        let is_drawn = plan.canaries <= limits().max_elements;
        if !is_drawn || size == 0 || !plan.canaries.is_multiple_of(size) {
            return Err(refused(&"its sets must be whole, of at most 8 million canaries"));
        }
        let digest = unhex(&plan.canaries_digest).and_then(|bytes| bytes.try_into().ok());
        let digest: [u8; 32] = digest
            .ok_or_else(|| refused(&"canaries_digest is not a SHA-256 of 64 hexadecimal digits"))?;
        let seed = self.hexadecimal("seed")?.try_into().map_err(|_| {
            let name = self.name("seed").unwrap_or_default();
            unreadable("seed", name, &"is not a seed: expected 64 hexadecimal digits")
        })?;
        let seed = CoinSeed::new(seed);
        if self.hexadecimal("commitment")? != seed.commitment(&digest, bytes) {
            let name = self.name("commitment").unwrap_or_default();
            return Err(unreadable("commitment", name, &CHANGED));
        }
        let nonce = match self.get("nonce") {
            Some(_) => self.hexadecimal("nonce")?,
            None => Vec::new(),
        };
        let found = CommittedPlan { plan, seed, nonce };
        self.check_coins(&found)?;
        Ok(Some(found))
    }

    fn check_coins(&self, plan: &CommittedPlan) -> Result<(), Failure> {
        let Some(file) = self.get("coins") else { return Ok(()) }; // the seed determines them
        let found = read_npy(file.bytes, &limits());
        let found = found.map_err(|error| unreadable("coins", file.name, &with_remedy(&error)))?;
        let coins = plan.coins();
        let is_same = found.data().len() == coins.len()
            && found.data().iter().zip(&coins).all(|(&found, &coin)| (found != 0.0) == coin);
        if is_same { Ok(()) } else { Err(unreadable("coins", file.name, &OTHER_COINS)) }
    }

    /// Whether other scores of this plan were audited before, by the file that the program leaves.
    pub(super) fn is_second(&self, scores: &[f64]) -> bool {
        let digest = format!("{:014x}", content_seed([scores, &[]]));
        let first = |file: File<'a>| file.bytes.split(u8::is_ascii_whitespace).next();
        self.get("audited").is_some_and(|file| first(file) != Some(digest.as_bytes()))
    }

    fn hexadecimal(&self, role: &'static str) -> Result<Vec<u8>, Failure> {
        let file = self.wanted(role)?;
        let refused = |why: &str| unreadable(role, file.name, &why);
        let bytes = within(file.bytes).map_err(refused)?;
        let text = std::str::from_utf8(bytes).ok().and_then(|text| unhex(text.trim()));
        text.ok_or_else(|| refused("is not hexadecimal"))
    }
}

const CHANGED: &str = "is not the commitment to this plan and seed: one of them was changed after the \
    coins were committed, so there is no bound";
const OTHER_COINS: &str =
    "has other coins than the committed seed: the training may have used other ones";

/// A plan with the seed that its commitment was made with.
#[derive(Debug)]
pub(super) struct CommittedPlan {
    pub(super) plan: OneRunPlan,
    pub(super) seed: CoinSeed,
    nonce: Vec<u8>,
}

impl CommittedPlan {
    /// Whether each canary is included.
    pub(super) fn coins(&self) -> Vec<bool> {
        let canaries = self.plan.canaries as usize;
        match self.plan.game {
            // a pool is refused
            PlannedGame::Coins | PlannedGame::Poisson(_) => self.seed.coins(canaries, &self.nonce),
            PlannedGame::Pairs => {
                let pairs = self.seed.coins(canaries / 2, &self.nonce);
                pairs.into_iter().flat_map(|first| [first, !first]).collect()
            }
            PlannedGame::Sets(size) => {
                let sets = canaries / size.max(1) as usize;
                let choices = self.seed.choices(sets, size, &self.nonce);
                let members = |choice: u32| (0..size).map(move |member| member == choice);
                choices.into_iter().flat_map(members).collect()
            }
        }
    }
}

fn within(bytes: &[u8]) -> Result<&[u8], &'static str> {
    if bytes.len() > MOST_BYTES { Err("is larger than 1 MiB") } else { Ok(bytes) }
}

/// The array with the name of its role, or the only one of the file.
fn array_of(role: &'static str, file: File<'_>) -> Result<Array, Failure> {
    let dataset = opened(file).map_err(|why| unreadable(role, file.name, &why))?;
    let array = match dataset.array(role) {
        Err(FormatError::NotFound { .. }) => dataset.into_only(),
        array => array,
    };
    array.map_err(|error| unreadable(role, file.name, &with_remedy(&error)))
}

fn averaged(array: Array) -> Result<Vec<f64>, String> {
    let (shape, data) = array.into_parts();
    let axes: Vec<usize> = shape.iter().copied().filter(|&length| length > 1).collect();
    match axes[..] {
        [] | [_] => Ok(data),
        [queries, canaries] if shape.len() == 2 => {
            let mean = |canary: usize| {
                let sum: f64 = data.iter().skip(canary).step_by(canaries).sum();
                sum / queries as f64
            };
            Ok((0..canaries).map(mean).collect())
        }
        _ => Err(format!(
            "has shape {shape:?}; expected one score per canary, or (queries, canaries)"
        )),
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|value| value as u8);
    let digits: Option<Vec<u8>> = text.as_bytes().iter().map(digit).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// A number of scores or coins that differs from that of the coins.
pub(super) fn check_count(
    role: &'static str,
    name: &str,
    found: usize,
    coins: usize,
) -> Result<(), Failure> {
    if found == coins {
        return Ok(());
    }
    let why = format!("has {found} scores, and there are {coins} coins: pass one for each canary");
    Err(Failure { kind: FailureKind::File, ..unreadable(role, name, &why) })
}
