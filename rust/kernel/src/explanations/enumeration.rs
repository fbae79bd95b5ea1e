//! One explanation after the other: which transactions took effect, initial values, and options of sites.

use super::{Ambiguity, Premise, Refusal, Restrictions, Sites, Told};
use std::ops::ControlFlow;

/// So many transactions that may have taken effect are tried in all combinations.
pub const MAX_EFFECTS: usize = 10;
/// So many explanations are tried, and so many operations judged on the way, but a few in any case.
const MOST_EXPLANATIONS: usize = 2_000;
const MOST_OPERATIONS: usize = 2_000_000;
const FEW_EXPLANATIONS: usize = 16;

/// How explanations are tried.
pub struct Enumeration<'a> {
    /// Whether the writers of reads of registers are tried, too; otherwise they stay open.
    pub with_reads: bool,
    /// Of more transactions that may have taken effect, groups are left undecided: see `effects_search`.
    pub max_effects: usize,
    /// Whether no more are tried.
    pub is_over: &'a dyn Fn() -> bool,
}

/// What an explanation is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Worth {
    /// It breaks every level that is still open.
    Broken,
    /// It leaves a level open.
    Open,
    /// No further explanation is needed.
    Enough,
}

/// What is done with an explanation.
pub type Visit<'a> = &'a mut dyn FnMut(&Told, &Premise) -> Worth;

/// An enumeration under way.
pub(super) struct Trying<'a, 'v> {
    pub(super) enumeration: &'a Enumeration<'a>,
    pub(super) visit: Visit<'v>,
    most: usize,
    left: usize,
    pub(super) is_exhaustive: bool,
}

impl Ambiguity<'_> {
    /// Tries one explanation after the other; whether all were tried, or one of them was enough.
    pub fn each(&self, enumeration: &Enumeration<'_>, visit: Visit<'_>) -> bool {
        let most = self.most();
        let mut trying = Trying { enumeration, visit, most, left: most, is_exhaustive: true };
        if self.effects().len() <= enumeration.max_effects {
            let _ = subsets(self.effects()).iter().try_for_each(|one| self.with_effects(one, &mut trying));
        } else if self.can_stay_undecided() {
            self.search_effects(&mut trying);
        } else {
            trying.is_exhaustive = false;
            let all_or_none = [&[], self.effects()];
            let _ = all_or_none.iter().try_for_each(|one| self.with_effects(one, &mut trying));
        }
        trying.is_exhaustive
    }

    fn most(&self) -> usize {
        let affordable = MOST_OPERATIONS / self.history.operation_count().max(1);
        affordable.clamp(FEW_EXPLANATIONS, MOST_EXPLANATIONS)
    }

    /// Tries the explanations in which just these indeterminate transactions took effect.
    fn with_effects(&self, effects: &[u32], trying: &mut Trying<'_, '_>) -> ControlFlow<()> {
        match self.worth_of(effects, &[], &Restrictions::default(), trying) {
            Worth::Enough => ControlFlow::Break(()),
            _ if trying.is_over() => {
                trying.is_exhaustive = false;
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }

    /// The most that an explanation is worth in which these took effect, and of which others are undecided.
    pub(super) fn worth_of(
        &self,
        effects: &[u32],
        undecided: &[u32],
        restrictions: &Restrictions,
        trying: &mut Trying<'_, '_>,
    ) -> Worth {
        let Some(premises) = self.premises(effects, undecided, restrictions, trying.left) else {
            trying.is_exhaustive = false;
            return Worth::Open;
        };
        let mut worth = Worth::Broken;
        for premise in premises {
            let sites = match self.sites(&premise, trying.most) {
                Ok(sites) => sites,
                Err(Refusal::NoWriter) => continue,
                Err(Refusal::TooMany) => {
                    trying.is_exhaustive = false;
                    worth = Worth::Open;
                    continue;
                }
            };
            worth = worth.max(self.worth_of_options(&premise, &sites, trying));
            if worth == Worth::Enough {
                return worth;
            }
        }
        worth
    }

    /// The most that an option is worth.
    fn worth_of_options(&self, premise: &Premise, sites: &Sites, trying: &mut Trying<'_, '_>) -> Worth {
        let sizes = sites.sizes(trying.enumeration.with_reads);
        let mut options = vec![0; sizes.len()];
        let mut worth = Worth::Broken;
        loop {
            if trying.is_over() {
                trying.is_exhaustive = false;
                return worth.max(Worth::Open);
            }
            trying.left -= 1;
            if self.shows_effects(premise, sites, &options) {
                worth = worth.max((trying.visit)(&self.told(premise, sites, &options), premise));
            }
            if worth == Worth::Enough || !advance(&mut options, &sizes) {
                return worth;
            }
        }
    }
}

impl Trying<'_, '_> {
    /// The first explanation is tried in any case.
    pub(super) fn is_over(&self) -> bool {
        self.left == 0 || self.left < self.most && (self.enumeration.is_over)()
    }
}

/// The next combination of options; whether there is one.
fn advance(options: &mut [usize], sizes: &[usize]) -> bool {
    for (option, &size) in options.iter_mut().zip(sizes) {
        *option += 1;
        if *option < size {
            return true;
        }
        *option = 0;
    }
    false
}

/// All subsets.
fn subsets(all: &[u32]) -> Vec<Vec<u32>> {
    let chosen = |bits: u32| all.iter().zip(0..).filter(move |&(_, place)| bits >> place & 1 == 1);
    (0..1u32 << all.len()).map(|bits| chosen(bits).map(|(&one, _)| one).collect()).collect()
}
