//! How long searches for an order of open versions may still take.
//!
//! The limit is that of one level, whatever is searched for it: the levels that prove it or break it, and all
//! explanations of repeated values.

use super::Question;
use super::levels::Level;
use crate::solver::{Budget, Progress};
use std::cell::Cell;

/// How searches go.
#[derive(Clone, Copy)]
pub(super) struct Searching<'t> {
    pub(super) times: &'t SearchTimes,
    /// Whether levels that are asked for are looked at again if they stay unknown.
    pub(super) is_first_look: bool,
}

/// Milliseconds that were spent.
pub(super) struct SearchTimes {
    spent: [Cell<u64>; Level::COUNT],
    /// What all levels that are asked for may take together.
    all: u64,
    /// When that is over, by the clock of the question.
    end: Option<u64>,
}

impl SearchTimes {
    pub(super) fn new(question: &Question<'_>) -> Self {
        let asked = question.asked.map_or(Level::COUNT, <[Level]>::len) as u64;
        let time = question.budget.time;
        let all = time.map_or(0, |time| time.milliseconds.saturating_mul(asked));
        let end = time.map(|time| (time.clock)().saturating_add(all));
        Self { spent: [const { Cell::new(0) }; Level::COUNT], all, end }
    }

    /// Whether no further explanation is looked for: so much time has passed, with searches or without.
    pub(super) fn is_over(&self, question: &Question<'_>) -> bool {
        question.budget.time.zip(self.end).is_some_and(|(time, end)| (time.clock)() >= end)
    }

    /// What the search for a level may cost. A level that is not asked for may only take half of the time: the one
    /// that it is looked at for needs some, too.
    pub(super) fn budget(&self, question: &Question<'_>, level: Level) -> Budget {
        let mut budget = question.budget;
        if let Some(time) = &mut budget.time {
            let is_asked = question.asked.is_none_or(|asked| asked.contains(&level));
            let share = if is_asked { time.milliseconds } else { time.milliseconds / 2 };
            let left = self.all.saturating_sub(self.spent.iter().map(Cell::get).sum());
            time.milliseconds = share.saturating_sub(self.spent[level as usize].get()).min(left);
        }
        budget
    }

    /// Counts what a search for a level takes.
    pub(super) fn counted<T>(&self, question: &Question<'_>, level: Level, search: impl FnOnce() -> T) -> T {
        let now = || question.budget.time.map_or(0, |time| (time.clock)());
        let began = now();
        let found = search();
        let spent = &self.spent[level as usize];
        spent.set(spent.get() + now().saturating_sub(began));
        found
    }
}

/// Adds up how far searches for the same level came.
pub(super) fn add_progress(all: &mut Vec<(Level, Progress)>, further: &[(Level, Progress)]) {
    for &(level, came) in further {
        match all.iter_mut().find(|(other, _)| *other == level) {
            Some((_, known)) => {
                known.choices = known.choices.max(came.choices);
                known.conflicts += came.conflicts;
                known.milliseconds += came.milliseconds;
                known.is_full |= came.is_full;
            }
            None => all.push((level, came)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::TimeLimit;
    use crate::versions::orders::Claims;
    use std::sync::atomic::{AtomicU64, Ordering};

    static NOW: AtomicU64 = AtomicU64::new(1000);

    fn now() -> u64 {
        NOW.load(Ordering::Relaxed)
    }

    #[test]
    fn all_searches_for_a_level_share_its_time() {
        let time = Some(TimeLimit { clock: now, milliseconds: 100 });
        let asked = [Level::Serializable];
        let question = Question {
            claims: Claims::default(),
            max_anomalies: 0,
            budget: Budget { time, ..Budget::default() },
            is_of_items: false,
            asked: Some(&asked),
            witnessed: &[],
        };
        let times = SearchTimes::new(&question);
        let left = |level: Level| times.budget(&question, level).time.map(|time| time.milliseconds);
        assert_eq!(left(Level::Serializable), Some(100));
        assert_eq!(left(Level::StrongSessionSerializable), Some(50));
        times.counted(&question, Level::Serializable, || NOW.fetch_add(30, Ordering::Relaxed));
        assert_eq!(left(Level::Serializable), Some(70));
        assert_eq!(left(Level::StrongSessionSerializable), Some(50));
        times.counted(&question, Level::StrongSessionSerializable, || NOW.fetch_add(40, Ordering::Relaxed));
        assert_eq!(left(Level::StrongSessionSerializable), Some(10));
        assert_eq!(left(Level::Serializable), Some(30));
        assert!(!times.is_over(&question));
        NOW.fetch_add(30, Ordering::Relaxed);
        assert!(times.is_over(&question));
        // What passed without a search is not counted.
        assert_eq!(left(Level::Serializable), Some(30));
        times.counted(&question, Level::Serializable, || NOW.fetch_add(40, Ordering::Relaxed));
        assert_eq!(left(Level::Serializable), Some(0));
    }
}
