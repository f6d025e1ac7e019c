//! Distinct records of batches, counted in time proportional to the batches.

/// A mark for each record: the last batch that was seen with it.
pub(super) struct Marks {
    of_records: Vec<u32>,
    last: u32,
}

impl Marks {
    pub(super) fn new(records: usize) -> Self {
        Marks { of_records: vec![0; records], last: 0 }
    }

    /// A mark that no record has.
    fn fresh(&mut self) -> u32 {
        if self.last == u32::MAX {
            self.of_records.fill(0);
            self.last = 0;
        }
        self.last += 1;
        self.last
    }

    /// The number of distinct records.
    pub(super) fn distinct(&mut self, batch: &[u32]) -> usize {
        self.shared(batch, 0).0
    }

    /// The numbers of distinct records and of those with the mark `other`.
    fn shared(&mut self, batch: &[u32], other: u32) -> (usize, usize) {
        let mark = self.fresh();
        let (mut distinct, mut shared) = (0, 0);
        for record in batch {
            let last = std::mem::replace(&mut self.of_records[*record as usize], mark);
            distinct += usize::from(last != mark);
            shared += usize::from(last == other);
        }
        (distinct, shared)
    }

    /// The numbers of distinct records of two batches, and of those that are in both.
    pub(super) fn overlap(&mut self, one: &[u32], other: &[u32]) -> [usize; 3] {
        // both marks are from the same pass
        if self.last >= u32::MAX - 1 {
            self.last = u32::MAX;
        }
        let of_one = self.distinct(one);
        let (of_other, shared) = self.shared(other, self.last);
        [of_one, of_other, shared]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_count_once() {
        for last in [0, u32::MAX - 2, u32::MAX - 1, u32::MAX] {
            let mut marks = Marks { last, ..Marks::new(5) };
            assert_eq!(marks.distinct(&[4, 1, 4]), 2);
            let mut marks = Marks { last, ..Marks::new(5) };
            assert_eq!(marks.overlap(&[0, 0, 1, 2], &[2, 0, 0, 3]), [3, 3, 2]);
            assert_eq!(marks.overlap(&[], &[1]), [0, 1, 0]);
        }
    }
}
