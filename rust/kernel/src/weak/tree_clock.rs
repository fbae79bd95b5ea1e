//! Tree clocks (Mathur et al., ASPLOS 2022): vector clocks that remember from which clock each entry came.
//!
//! An entry hangs below the row from which it was learned. What is known of that row already is then known
//! of everything below it too, so a join looks only at entries that are new.

const NONE: u32 = u32::MAX;

/// What one row knows of all rows; its own entry is the root.
#[derive(Debug, Clone)]
pub struct TreeClock {
    root: u32,
    entries: Vec<Entry>,
}

/// What is known of one row.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// How many of its transactions are known; 0 if the entry hangs nowhere.
    count: u32,
    /// How many transactions of the parent's row were known when this was learned from it.
    attached: u32,
    parent: u32,
    first_child: u32,
    next: u32,
    previous: u32,
}

const NOWHERE: Entry =
    Entry { count: 0, attached: 0, parent: NONE, first_child: NONE, next: NONE, previous: NONE };

impl TreeClock {
    /// The clock of `row`, which knows nothing yet.
    #[must_use]
    pub fn new(row: u32, rows: usize) -> Self {
        Self { root: row, entries: vec![NOWHERE; rows] }
    }

    /// How many transactions of `row` are known.
    #[must_use]
    pub fn count(&self, row: u32) -> u32 {
        self.entries[row as usize].count
    }

    /// One more transaction of the own row begins; what it learns is joined after this.
    pub fn increment(&mut self) {
        self.entries[self.root as usize].count += 1;
    }

    /// Learns everything that `other` knows; how many entries of it were looked at.
    pub fn join(&mut self, other: &Self) -> u64 {
        if other.count(other.root) <= self.count(other.root) {
            return 1;
        }
        let (updated, looked) = self.news(other);
        for &row in &updated {
            self.detach(row);
        }
        self.attach(other, &updated);
        looked
    }

    /// Rows of which `other` knows more, parents before children; and how many entries were looked at.
    fn news(&self, other: &Self) -> (Vec<u32>, u64) {
        let mut updated = vec![other.root];
        let (mut looked, mut done) = (1, 0);
        while let Some(&row) = updated.get(done) {
            done += 1;
            let known = self.count(row);
            let mut child = other.entries[row as usize].first_child;
            while child != NONE {
                let entry = &other.entries[child as usize];
                looked += 1;
                if self.count(child) < entry.count {
                    updated.push(child);
                } else if entry.attached <= known {
                    // Children hang with the latest first: the rest was known with the parent.
                    break;
                }
                child = entry.next;
            }
        }
        (updated, looked)
    }

    fn detach(&mut self, row: u32) {
        let Entry { parent, next, previous, .. } = self.entries[row as usize];
        if parent == NONE {
            return;
        }
        match previous {
            NONE => self.entries[parent as usize].first_child = next,
            before => self.entries[before as usize].next = next,
        }
        if next != NONE {
            self.entries[next as usize].previous = previous;
        }
        let entry = &mut self.entries[row as usize];
        (entry.parent, entry.next, entry.previous) = (NONE, NONE, NONE);
    }

    /// Hangs the updated rows as they hang in `other`; its root below the own one.
    fn attach(&mut self, other: &Self, updated: &[u32]) {
        // The last child is hung first, so that the latest ends up in front.
        for &row in updated.iter().rev() {
            let theirs = other.entries[row as usize];
            self.entries[row as usize].count = theirs.count;
            if row == other.root {
                let attached = self.count(self.root);
                self.hang(row, self.root, attached);
            } else if row != self.root {
                self.hang(row, theirs.parent, theirs.attached);
            }
        }
    }

    fn hang(&mut self, row: u32, parent: u32, attached: u32) {
        let first = std::mem::replace(&mut self.entries[parent as usize].first_child, row);
        if first != NONE {
            self.entries[first as usize].previous = row;
        }
        let entry = &mut self.entries[row as usize];
        (entry.parent, entry.attached, entry.next, entry.previous) = (parent, attached, first, NONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator of our own: only the order of events matters here.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }
    }

    #[test]
    fn a_tree_clock_knows_what_a_vector_clock_knows() {
        let rows = 7;
        let mut random = Random(5);
        for _ in 0..200 {
            let mut trees: Vec<TreeClock> = (0..rows).map(|row| TreeClock::new(row, rows as usize)).collect();
            let mut vectors = vec![vec![0; rows as usize]; rows as usize];
            let mut kept: Vec<(TreeClock, Vec<u32>)> = Vec::new();
            for _ in 0..60 {
                let row = random.below(u64::from(rows)) as usize;
                trees[row].increment();
                vectors[row][row] += 1;
                for _ in 0..random.below(3) {
                    let Some((tree, vector)) = kept.get(random.below(kept.len().max(1) as u64) as usize)
                    else {
                        break;
                    };
                    trees[row].join(tree);
                    for (mine, theirs) in vectors[row].iter_mut().zip(vector) {
                        *mine = (*mine).max(*theirs);
                    }
                }
                let counts: Vec<u32> = (0..rows).map(|other| trees[row].count(other)).collect();
                assert_eq!(counts, vectors[row]);
                kept.push((trees[row].clone(), vectors[row].clone()));
            }
        }
    }
}
