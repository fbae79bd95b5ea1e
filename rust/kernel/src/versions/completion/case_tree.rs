//! Why no choice of orders and of writers satisfies a level, told in a few cases, each with the circle that it closes.
//!
//! A question is which of two versions came first, or which version a read showed. An answer that closes a circle is
//! impossible; a question with one answer left is settled. The cases are the impossible answers to the questions that
//! lead to one without any answer. Questions that this does not need are left out.

mod told_case;

use super::level_problem::LevelProblem;
use super::order_search::{Answer, OrderSearch};
use super::{OpenPair, OpenRead};
use crate::cancel::Cancel;
use crate::graph::Edges;
use crate::observations::{ABSENT, INITIAL};
use crate::solver::{Budget, Problem};
use crate::versions::levels::Level;
use crate::versions::witness::Step;

/// A proof tells so many cases.
const MAX_CASES: usize = 6;
/// Of more questions, or of larger graphs, none are told.
const MAX_QUESTIONS: usize = 200;
const MAX_WORK: usize = 20_000_000;

/// What is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    /// Which of two versions came first.
    Order(OpenPair),
    /// Which version a read showed, by its place among the reads of the level.
    Writer(usize),
}

/// An answer: the question by its place, and which of its answers.
type Answered = (usize, usize);

/// An edge that follows from answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Because {
    /// One version came before another.
    Order { key: u32, before: u32, after: u32 },
    /// A read showed a version.
    Shown { read: usize, version: u32 },
    /// A node read a version, and missed a later one; the read is by its place if it is open.
    Missed { node: u32, read: Option<usize>, seen: u32, missed: u32 },
}

/// An edge (before, after), or a path that must not be; and why.
#[derive(Debug, Clone, Copy)]
struct Consequence {
    from: u32,
    to: u32,
    is_barred: bool,
    because: Because,
}

pub(super) struct CaseTree<'t, 'c, 's, 'h> {
    level_problem: &'t LevelProblem<'c, 's, 'h>,
    base: Problem,
    /// The known edges by predecessors.
    known: Edges,
    questions: Vec<Question>,
    cancel: &'t Cancel,
}

impl<'t, 'c, 's, 'h> CaseTree<'t, 'c, 's, 'h> {
    /// The cases of some of these questions, all of which close a circle; nothing if that takes too many.
    pub(super) fn cases(
        level_problem: &'t LevelProblem<'c, 's, 'h>,
        questions: Vec<Question>,
        cancel: &'t Cancel,
    ) -> Vec<Vec<Step>> {
        let is_told = !matches!(
            level_problem.level,
            Level::CursorStability | Level::MonotonicView | Level::UpdateSerializable
        );
        let base = level_problem.base();
        let work = questions.len().pow(2) * (base.nodes + base.edges.len());
        if !is_told || questions.len() > MAX_QUESTIONS || work > MAX_WORK {
            return Vec::new();
        }
        let pairs: Vec<(u32, u32)> = base.edges.iter().map(|&(before, after)| (after, before)).collect();
        let known = Edges::collected(base.nodes, &[&pairs]);
        let tree = CaseTree { level_problem, base, known, questions, cancel };
        let Some(settled) = tree.settled() else { return Vec::new() };
        let cases = tree.leaves(&tree.needed(settled));
        if cases.len() > MAX_CASES {
            return Vec::new();
        }
        let told: Vec<Vec<Step>> = cases.iter().map(|taken| tree.told(taken)).collect();
        if told.iter().all(|steps| !steps.is_empty()) { told } else { Vec::new() }
    }

    /// Questions in the order in which they are settled; the last one has no answer.
    fn settled(&self) -> Option<Vec<usize>> {
        let (mut taken, mut order) = (Vec::new(), Vec::new());
        loop {
            let mut is_new = false;
            for question in 0..self.questions.len() {
                if order.contains(&question) {
                    continue;
                }
                let open = self.open_answers(&taken, question);
                match open[..] {
                    [] => {
                        order.push(question);
                        return Some(order);
                    }
                    [only] => {
                        order.push(question);
                        taken.push((question, only));
                        is_new = true;
                    }
                    _ => {}
                }
            }
            if !is_new || self.cancel.is_asked() {
                return None;
            }
        }
    }

    /// The same without questions that the others do not need.
    fn needed(&self, settled: Vec<usize>) -> Vec<usize> {
        let mut kept = settled;
        let mut place = kept.len().saturating_sub(1);
        while place > 0 {
            place -= 1;
            let mut fewer = kept.clone();
            fewer.remove(place);
            if self.is_refuted(&fewer) {
                kept = fewer;
            }
        }
        kept
    }

    /// Whether each of these questions is settled by those before it, and the last one has no answer.
    fn is_refuted(&self, order: &[usize]) -> bool {
        let mut taken = Vec::new();
        for &question in order {
            match self.open_answers(&taken, question)[..] {
                [] => return true,
                [only] => taken.push((question, only)),
                _ => return false,
            }
        }
        false
    }

    /// Every impossible answer, with the answers to the questions before it.
    fn leaves(&self, order: &[usize]) -> Vec<Vec<Answered>> {
        let (mut taken, mut found): (Vec<Answered>, Vec<Vec<Answered>>) = (Vec::new(), Vec::new());
        for &question in order {
            let open = self.open_answers(&taken, question);
            let closed = (0..self.answers(question)).filter(|answer| !open.contains(answer));
            found.extend(closed.map(|answer| [&taken[..], &[(question, answer)]].concat()));
            taken.extend(open.first().map(|&only| (question, only)));
        }
        found
    }

    fn answers(&self, question: usize) -> usize {
        match self.questions[question] {
            Question::Order(_) => 2,
            Question::Writer(read) => self.read(read).versions.len(),
        }
    }

    fn read(&self, read: usize) -> &OpenRead {
        &self.level_problem.reads()[read]
    }

    fn open_answers(&self, taken: &[Answered], question: usize) -> Vec<usize> {
        let is_open = |&answer: &usize| {
            let with: Vec<Answered> = [taken, &[(question, answer)]].concat();
            self.circle(&with).is_none()
        };
        (0..self.answers(question)).filter(is_open).collect()
    }

    /// The versions of an order: the earlier one first.
    fn ordered(&self, (question, answer): Answered) -> Option<(u32, u32, u32)> {
        let Question::Order(OpenPair { key, first, second }) = self.questions[question] else { return None };
        Some(if answer == 0 { (key, first, second) } else { (key, second, first) })
    }

    /// The read, and the version that it shows.
    fn shown(&self, (question, answer): Answered) -> Option<(usize, u32)> {
        let Question::Writer(read) = self.questions[question] else { return None };
        Some((read, self.read(read).versions[answer]))
    }

    /// All that follows from answers.
    fn consequences(&self, taken: &[Answered]) -> Vec<Consequence> {
        let mut found = Vec::new();
        for &answered in taken {
            if let Some((key, before, after)) = self.ordered(answered) {
                self.add_order(key, before, after, &mut found);
            }
            if let Some((read, version)) = self.shown(answered) {
                self.add_shown(read, version, taken, &mut found);
            }
        }
        found
    }

    fn add_order(&self, key: u32, before: u32, after: u32, found: &mut Vec<Consequence>) {
        let (all, problem) = (self.level_problem.all, self.level_problem);
        let because = Because::Order { key, before, after };
        let (from, to) = (problem.end(before), problem.start(after));
        found.push(Consequence { from, to, is_barred: false, because });
        let readers = all.readers(before).iter().filter(|&&reader| reader != all.node(after));
        for &node in readers {
            let because = Because::Missed { node, read: None, seen: before, missed: after };
            self.add_missed(node, after, because, found);
        }
    }

    fn add_shown(&self, read: usize, version: u32, taken: &[Answered], found: &mut Vec<Consequence>) {
        let (all, problem) = (self.level_problem.all, self.level_problem);
        let (node, key) = (self.read(read).node, self.read(read).key);
        let writer = |version: u32| {
            let writer = all.lookup.orders.writers[version as usize];
            (writer != INITIAL).then(|| all.nodes[writer as usize]).filter(|&node| node != ABSENT)
        };
        if writer(version).is_some() && problem.has_reads() {
            let because = Because::Shown { read, version };
            found.push(Consequence { from: problem.end(version), to: node, is_barred: false, because });
        }
        if self.read(read).misses_nothing {
            return;
        }
        let known = all.lookup.after(key, version, problem.level.order()).map(|extra| extra.after);
        let supposed = taken.iter().filter_map(|&answered| self.ordered(answered));
        let supposed = supposed.filter(|&(_, before, _)| before == version).map(|(.., after)| after);
        for missed in known.chain(supposed) {
            if writer(missed).is_some_and(|other| other != node) {
                let because = Because::Missed { node, read: Some(read), seen: version, missed };
                self.add_missed(node, missed, because, found);
            }
        }
    }

    /// A node read an earlier version than this one.
    fn add_missed(&self, node: u32, missed: u32, because: Because, found: &mut Vec<Consequence>) {
        let end = self.level_problem.end(missed);
        if self.level_problem.has_edges_of_readers() {
            found.push(Consequence { from: node, to: end, is_barred: false, because });
        } else if self.level_problem.has_bars() {
            found.push(Consequence { from: end, to: node, is_barred: true, because });
        }
    }

    /// A short way that closes a circle with what follows from answers: its nodes, and what closes it.
    fn circle(&self, taken: &[Answered]) -> Option<(Vec<u32>, Closing)> {
        let consequences = self.consequences(taken);
        let mut ways: Vec<(Vec<u32>, Closing)> = Vec::new();
        for &consequence in &consequences {
            let Consequence { from, to, is_barred, .. } = consequence;
            let (start, end) = if is_barred { (from, to) } else { (to, from) };
            let way = self.way(start, end, &consequences);
            ways.extend(way.map(|way| (way, Closing::Answer(consequence))));
        }
        if consequences.iter().any(|one| !one.is_barred) {
            for &(from, to) in &self.base.barred {
                let way = self.way(from, to, &consequences);
                ways.extend(way.map(|way| (way, Closing::Known(from, to))));
            }
        }
        ways.into_iter().min_by_key(|(way, _)| way.len())
    }

    /// The shortest way from one node to another.
    fn way(&self, from: u32, to: u32, consequences: &[Consequence]) -> Option<Vec<u32>> {
        let mut next = vec![ABSENT; self.base.nodes];
        let mut queue = std::collections::VecDeque::from([to]);
        next[to as usize] = to;
        while let Some(node) = queue.pop_front() {
            if node == from {
                let mut way = vec![from];
                while way[way.len() - 1] != to {
                    way.push(next[way[way.len() - 1] as usize]);
                }
                return Some(way);
            }
            let further =
                consequences.iter().filter(|one| !one.is_barred && one.to == node).map(|one| one.from);
            for before in self.known.of(node).iter().copied().chain(further) {
                if next[before as usize] == ABSENT {
                    next[before as usize] = node;
                    queue.push_back(before);
                }
            }
        }
        None
    }
}

impl<'p, 'c, 's, 'h> OrderSearch<'p, 'c, 's, 'h> {
    /// The orders and writers that took part in conflicts; if there is no order, these leave none.
    pub(super) fn questions(
        level_problem: &'p LevelProblem<'c, 's, 'h>,
        budget: Budget,
        cancel: &'p Cancel,
    ) -> (Vec<Question>, Answer) {
        let Some(mut search) = Self::new(level_problem, budget, cancel) else {
            return (Vec::new(), Answer::Impossible);
        };
        let answer = search.run();
        let mut found: Vec<Question> = Vec::new();
        for choice in search.engine.blamed() {
            let read = || search.reads.read_of(choice).map(Question::Writer);
            let question = search.pairs[choice as usize].map(Question::Order).or_else(read);
            found.extend(question.filter(|question| !found.contains(question)));
        }
        (found, answer)
    }
}

/// What closes a circle: an answer, or a path that must not be.
#[derive(Debug, Clone, Copy)]
enum Closing {
    Answer(Consequence),
    Known(u32, u32),
}
