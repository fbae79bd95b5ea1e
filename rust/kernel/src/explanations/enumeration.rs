//! One explanation after the other: which transactions took effect, initial values, and options of sites.

use super::{Ambiguity, Premise, Refusal, Sites, Told};
use std::ops::ControlFlow;

/// Of more transactions that may have taken effect, only all and none are tried.
const MAX_EFFECTS: usize = 10;
/// So many explanations are tried, and so many operations judged on the way, but a few in any case.
const MOST_EXPLANATIONS: usize = 2_000;
const MOST_OPERATIONS: usize = 2_000_000;
const FEW_EXPLANATIONS: usize = 16;

/// How explanations are tried.
pub struct Enumeration<'a> {
    /// Whether the writers of reads of registers are tried, too; otherwise they stay open.
    pub with_reads: bool,
    /// Whether no more are tried.
    pub is_over: &'a dyn Fn() -> bool,
}

/// What is done with an explanation; a break ends the enumeration.
pub type Visit<'a> = &'a mut dyn FnMut(&Told, &Premise) -> ControlFlow<()>;

impl Ambiguity<'_> {
    /// Tries one explanation after the other; whether all were tried, or one of them was enough.
    pub fn each(&self, enumeration: &Enumeration<'_>, visit: Visit<'_>) -> bool {
        let mut is_exhaustive = self.effects().len() <= MAX_EFFECTS;
        let mut left = self.most();
        for effects in subsets(self.effects()) {
            let Some(premises) = self.premises(&effects, left) else {
                is_exhaustive = false;
                continue;
            };
            for premise in premises {
                if left < self.most() && (enumeration.is_over)() {
                    return false;
                }
                let sites = match self.sites(&premise, self.most()) {
                    Ok(sites) => sites,
                    Err(Refusal::NoWriter) => continue,
                    Err(Refusal::TooMany) => {
                        is_exhaustive = false;
                        continue;
                    }
                };
                match self.each_option(enumeration, &premise, &sites, &mut left, visit) {
                    ControlFlow::Break(()) => return is_exhaustive,
                    ControlFlow::Continue(all) => is_exhaustive &= all,
                }
            }
        }
        is_exhaustive
    }

    fn most(&self) -> usize {
        let affordable = MOST_OPERATIONS / self.history.operation_count().max(1);
        affordable.clamp(FEW_EXPLANATIONS, MOST_EXPLANATIONS)
    }

    /// Whether all options were tried, if none was enough.
    fn each_option(
        &self,
        enumeration: &Enumeration<'_>,
        premise: &Premise,
        sites: &Sites,
        left: &mut usize,
        visit: Visit<'_>,
    ) -> ControlFlow<(), bool> {
        let sizes = sites.sizes(enumeration.with_reads);
        let mut options = vec![0; sizes.len()];
        loop {
            if *left == 0 {
                return ControlFlow::Continue(false);
            }
            *left -= 1;
            visit(&self.told(premise, sites, &options), premise)?;
            if !advance(&mut options, &sizes) {
                return ControlFlow::Continue(true);
            }
            if (enumeration.is_over)() {
                return ControlFlow::Continue(false);
            }
        }
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

/// All subsets of a few; of more, none and all.
fn subsets(all: &[u32]) -> Vec<Vec<u32>> {
    if all.len() > MAX_EFFECTS {
        return vec![Vec::new(), all.to_vec()];
    }
    let chosen = |bits: u32| all.iter().zip(0..).filter(move |&(_, place)| bits >> place & 1 == 1);
    (0..1u32 << all.len()).map(|bits| chosen(bits).map(|(&one, _)| one).collect()).collect()
}
