//! Memory that records accesses: two invocations may access the same word only with a barrier
//! between them, or if both read.

use crate::simulated::operations::{LANES, Words};

/// Accesses to a word since the last barrier (in buffers: since the start of the dispatch).
#[derive(Debug, Clone, Copy, Default)]
struct AccessHistory {
    phase: u64,
    writer: Option<u64>,
    reader: Option<u64>,
    has_more_readers: bool,
}

/// Words shared by several invocations.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedMemory {
    pub(crate) name: String,
    words: Vec<u32>,
    is_written: Vec<bool>,
    history: Vec<AccessHistory>,
    /// Incremented at each barrier and at each dispatch.
    pub(crate) phase: u64,
}

impl SharedMemory {
    /// Uninitialised words.
    pub(crate) fn uninitialized(name: &str, count: usize) -> Self {
        SharedMemory {
            name: name.to_owned(),
            words: vec![0; count],
            is_written: vec![false; count],
            history: vec![AccessHistory::default(); count],
            phase: 0,
        }
    }

    pub(crate) fn filled(name: &str, words: &[u32]) -> Self {
        let mut shared = SharedMemory::uninitialized(name, words.len());
        shared.words.copy_from_slice(words);
        shared.is_written.fill(true);
        shared
    }

    /// Initialises the words from an index on.
    pub(crate) fn fill_from(&mut self, first: usize, words: &[u32]) {
        self.words[first..][..words.len()].copy_from_slice(words);
        self.is_written[first..][..words.len()].fill(true);
    }

    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// Marks all words as uninitialised.
    pub(crate) fn uninitialize(&mut self) {
        self.is_written.fill(false);
    }

    fn history_of(&mut self, at: u32) -> Result<&mut AccessHistory, String> {
        let (name, count, phase) = (&self.name, self.words.len(), self.phase);
        let history = self.history.get_mut(at as usize);
        let history = history.ok_or_else(|| format!("{name}[{at}] of {count} words"))?;
        if history.phase != phase {
            *history = AccessHistory { phase, ..AccessHistory::default() };
        }
        Ok(history)
    }

    pub(crate) fn read(&mut self, at: u32, invocation: u64) -> Result<u32, String> {
        let history = self.history_of(at)?;
        let is_race = history.writer.is_some_and(|writer| writer != invocation);
        history.has_more_readers |= history.reader.is_some_and(|reader| reader != invocation);
        history.reader = Some(invocation);
        if is_race {
            return Err(format!("race: {}[{at}] is read and written concurrently", self.name));
        }
        if !self.is_written[at as usize] {
            return Err(format!("{}[{at}] is read before it is written", self.name));
        }
        Ok(self.words[at as usize])
    }

    pub(crate) fn write(&mut self, at: u32, word: u32, invocation: u64) -> Result<(), String> {
        let history = self.history_of(at)?;
        let by_others = |known: Option<u64>| known.is_some_and(|known| known != invocation);
        let is_race =
            by_others(history.writer) || by_others(history.reader) || history.has_more_readers;
        history.writer = Some(invocation);
        if is_race {
            return Err(format!("race: {}[{at}] is accessed concurrently with a write", self.name));
        }
        (self.words[at as usize], self.is_written[at as usize]) = (word, true);
        Ok(())
    }
}

/// Location of a value, per lane.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) first: [u32; LANES],
    pub(crate) count: usize,
}

impl Places {
    /// Each word of each active lane.
    pub(crate) fn each(&self, mask: u64) -> impl Iterator<Item = (usize, usize, u32)> + '_ {
        let lanes = (0..LANES).filter(move |lane| mask >> lane & 1 == 1);
        lanes.flat_map(move |lane| {
            (0..self.count)
                .map(move |word| (word, lane, self.first[lane].wrapping_add(word as u32)))
        })
    }
}

/// Reads lane-private words.
pub(crate) fn read_own(memory: &Words, places: &Places, mask: u64) -> Result<Words, String> {
    let mut found = Words::zeros(places.count);
    for (word, lane, at) in places.each(mask) {
        let row = memory.0.get(at as usize).ok_or_else(|| format!("word {at} of a variable"))?;
        found.0[word][lane] = row[lane];
    }
    Ok(found)
}

/// Writes lane-private words.
pub(crate) fn write_own(
    memory: &mut Words,
    places: &Places,
    value: &Words,
    mask: u64,
) -> Result<(), String> {
    for (word, lane, at) in places.each(mask) {
        let row =
            memory.0.get_mut(at as usize).ok_or_else(|| format!("word {at} of a variable"))?;
        row[lane] = value.0[word][lane];
    }
    Ok(())
}
