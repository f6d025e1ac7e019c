//! Memory that knows who touched it: two invocations may share a word only where a barrier is between
//! them, or where both read.

use crate::operations::{LANES, Words};

/// One word's history since the last barrier, or in buffers since the dispatch began.
#[derive(Debug, Clone, Copy, Default)]
struct Touched {
    phase: u64,
    writer: Option<u64>,
    reader: Option<u64>,
    has_more_readers: bool,
}

/// Words that several invocations see.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shared {
    pub(crate) name: String,
    words: Vec<u32>,
    is_written: Vec<bool>,
    touched: Vec<Touched>,
    /// Grows at each barrier, and at each dispatch.
    pub(crate) phase: u64,
}

impl Shared {
    /// Words that nobody has written.
    pub(crate) fn unwritten(name: &str, count: usize) -> Self {
        Shared {
            name: name.to_owned(),
            words: vec![0; count],
            is_written: vec![false; count],
            touched: vec![Touched::default(); count],
            phase: 0,
        }
    }

    pub(crate) fn filled(name: &str, words: &[u32]) -> Self {
        let mut shared = Shared::unwritten(name, words.len());
        shared.words.copy_from_slice(words);
        shared.is_written.fill(true);
        shared
    }

    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// As before the first write.
    pub(crate) fn forget(&mut self) {
        self.is_written.fill(false);
    }

    fn touch(&mut self, at: u32) -> Result<&mut Touched, String> {
        let (name, count, phase) = (&self.name, self.words.len(), self.phase);
        let touched = self.touched.get_mut(at as usize);
        let touched = touched.ok_or_else(|| format!("{name}[{at}] of {count} words"))?;
        if touched.phase != phase {
            *touched = Touched { phase, ..Touched::default() };
        }
        Ok(touched)
    }

    pub(crate) fn read(&mut self, at: u32, invocation: u64) -> Result<u32, String> {
        let touched = self.touch(at)?;
        let is_race = touched.writer.is_some_and(|writer| writer != invocation);
        touched.has_more_readers |= touched.reader.is_some_and(|reader| reader != invocation);
        touched.reader = Some(invocation);
        if is_race {
            return Err(format!("race: {}[{at}] is read beside a write", self.name));
        }
        if !self.is_written[at as usize] {
            return Err(format!("{}[{at}] is read before it is written", self.name));
        }
        Ok(self.words[at as usize])
    }

    pub(crate) fn write(&mut self, at: u32, word: u32, invocation: u64) -> Result<(), String> {
        let touched = self.touch(at)?;
        let by_others = |known: Option<u64>| known.is_some_and(|known| known != invocation);
        let is_race =
            by_others(touched.writer) || by_others(touched.reader) || touched.has_more_readers;
        touched.writer = Some(invocation);
        if is_race {
            return Err(format!("race: {}[{at}] is written beside others", self.name));
        }
        (self.words[at as usize], self.is_written[at as usize]) = (word, true);
        Ok(())
    }
}

/// Where a value lies, per lane.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) first: [u32; LANES],
    pub(crate) count: usize,
}

impl Places {
    /// Each word of each lane that takes part.
    pub(crate) fn each(&self, mask: u64) -> impl Iterator<Item = (usize, usize, u32)> + '_ {
        let lanes = (0..LANES).filter(move |lane| mask >> lane & 1 == 1);
        lanes.flat_map(move |lane| {
            (0..self.count)
                .map(move |word| (word, lane, self.first[lane].wrapping_add(word as u32)))
        })
    }
}

/// Words of every lane by itself.
pub(crate) fn read_own(memory: &Words, places: &Places, mask: u64) -> Result<Words, String> {
    let mut found = Words::zeros(places.count);
    for (word, lane, at) in places.each(mask) {
        let row = memory.0.get(at as usize).ok_or_else(|| format!("word {at} of a variable"))?;
        found.0[word][lane] = row[lane];
    }
    Ok(found)
}

/// The same of a write.
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
