//! Which of many indeterminate transactions took effect: a search that follows the reads that show them.
//!
//! While a transaction is undecided, its writes may be read, its own reads are not asked, and it has a session
//! of its own. If such a history breaks a level, so does every way to decide the rest: where the transaction took effect,
//! fewer things are asked of it; where it did not, its writes can stand behind everything else. Otherwise the
//! search takes a read that an undecided transaction may have served, and tries its writers one by one: that one
//! took effect. What no read shows is left out.

use super::enumeration::{Trying, Worth};
use super::{Ambiguity, Premise, Restrictions};
use crate::history::{History, Kind};

/// Transactions that took effect, and what some reads show.
#[derive(Default, Clone)]
struct Decided {
    taken: Vec<u32>,
    restrictions: Restrictions,
}

impl Ambiguity<'_> {
    /// Whether nothing but reads and sessions speaks of the transactions that may have taken effect: they use
    /// registers whose initial values are known, and no recorded order or timestamp has them.
    pub(super) fn can_stay_undecided(&self) -> bool {
        let history = self.history;
        let is_plain = |operation: usize| match history.operations.kinds[operation] {
            Kind::Begin | Kind::Commit | Kind::Abort => true,
            Kind::RangeRead | Kind::Delete | Kind::Append => false,
            _ => self.is_plain_register(history.operations.keys[operation]),
        };
        history.versions.is_empty()
            && history.transactions.commits.is_empty()
            && self.effects.iter().all(|&one| history.operations_of(one as usize).all(is_plain))
    }

    /// Tries all and none first, and then decides one read after the other.
    pub(super) fn search_effects(&self, trying: &mut Trying<'_, '_>) {
        let unrestricted = Restrictions::default();
        for effects in [&self.effects[..], &[]] {
            if self.worth_of(effects, &[], &unrestricted, trying) == Worth::Enough {
                return;
            }
        }
        let mut waiting = vec![Decided::default()];
        while let Some(decided) = waiting.pop() {
            if trying.is_over() {
                trying.is_exhaustive = false;
                return;
            }
            let is_undecided = |one: &&u32| !decided.taken.contains(one);
            let mut undecided: Vec<u32> = self.effects.iter().filter(is_undecided).copied().collect();
            let choices = self.choices(&decided, &undecided);
            if choices.is_empty() {
                undecided.clear();
            }
            match self.worth_of(&decided.taken, &undecided, &decided.restrictions, trying) {
                Worth::Enough => return,
                Worth::Open => waiting.extend(choices),
                Worth::Broken => {}
            }
        }
    }

    /// The cases of the read that the fewest undecided transactions may have served: one of them did, or, last and so
    /// tried first, none.
    fn choices(&self, decided: &Decided, undecided: &[u32]) -> Vec<Decided> {
        let premises = self.premises(&decided.taken, undecided, &decided.restrictions, usize::MAX);
        let Some(Ok(sites)) = premises.and_then(|all| Some(self.sites(all.first()?, usize::MAX))) else {
            return Vec::new();
        };
        let owner = |write: u32| super::writer_of(write, &self.owners);
        let is_undecided = |write: &u32| undecided.contains(&owner(*write));
        let of_read = |read: &super::RegisterRead| read.options.iter().filter(|&w| is_undecided(w)).count();
        let open = sites.reads.iter().filter(|read| of_read(read) > 0);
        let Some(read) = open.min_by_key(|read| (of_read(read), read.read)) else { return Vec::new() };
        let (by_undecided, by_others): (Vec<u32>, Vec<u32>) =
            read.options.iter().partition(|&write| is_undecided(write));
        let restricted = |writes: Vec<u32>, taken: Option<u32>| {
            let mut case = decided.clone();
            case.restrictions.insert(read.read, writes);
            case.taken.extend(taken);
            case
        };
        let served = by_undecided.into_iter().rev().map(|write| restricted(vec![write], Some(owner(write))));
        let mut cases: Vec<Decided> = served.collect();
        if !by_others.is_empty() {
            cases.push(restricted(by_others, None));
        }
        cases
    }
}

/// Gives each transaction that is undecided a session of its own.
pub(super) fn detach(history: &mut History, premise: &Premise) {
    let undecided = premise.undecided();
    if undecided.is_empty() {
        return;
    }
    for transaction in undecided {
        history.transactions.sessions[transaction as usize] = history.session_ids.len() as u32;
        history.session_ids.push(crate::value::Value::NIL);
    }
    let mut by_session = vec![Vec::new(); history.session_ids.len()];
    for &transaction in &history.session_transactions {
        by_session[history.transactions.sessions[transaction as usize] as usize].push(transaction);
    }
    let sizes = by_session.iter().map(|session| session.len() as u32);
    let ends = sizes.scan(0, |end, size| {
        *end += size;
        Some(*end)
    });
    history.session_offsets = std::iter::once(0).chain(ends).collect();
    history.session_transactions = by_session.concat();
}
