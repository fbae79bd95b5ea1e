//! The statements that clients are going to send.

use super::client::{Lost, Transaction};
use super::run::ProfiledRun;
use super::{Delays, Load};
use crate::generate::random::Random;
use crate::history::Kind;
use crate::intervals::profile::Statement;
use crate::simulate::store::{ABSENT, Request};

/// How many rows are drawn at most to find one that can be inserted, or deleted.
const TRIES: u32 = 8;
/// The weight of the first row.
const WEIGHT: f64 = 1_099_511_627_776.0;
/// How many binary places of an exponent count.
const ROOTS: u32 = 16;
/// One delay of so many is long.
const LONG: u32 = 64;

/// Draws rows by their weights.
#[derive(Debug)]
pub(super) struct Draw {
    keys: u32,
    /// Running sums; empty if all weigh the same.
    weights: Vec<u64>,
}

impl Draw {
    pub(super) fn new(keys: u32, theta: f64) -> Self {
        let mut total = 0;
        let weight = |rank: u32| (WEIGHT / power(f64::from(rank), theta)) as u64 + 1;
        let sums = (1..=keys).map(|rank| {
            total += weight(rank);
            total
        });
        Self { keys, weights: if theta > 0.0 { sums.collect() } else { Vec::new() } }
    }

    fn row(&self, random: &mut Random) -> u32 {
        let Some(&total) = self.weights.last() else { return random.below(self.keys) };
        let point = random.wide_below(total);
        self.weights.partition_point(|&weight| weight <= point) as u32
    }
}

/// `base` to the power of `exponent`, by square roots and products: they are the same on every machine.
fn power(base: f64, exponent: f64) -> f64 {
    let whole = (0..exponent as u32).fold(1.0, |product, _| product * base);
    let (mut root, mut rest, mut power) = (base, exponent.fract(), whole);
    for _ in 0..ROOTS {
        root = root.sqrt();
        rest *= 2.0;
        if rest >= 1.0 {
            rest -= 1.0;
            power *= root;
        }
    }
    power
}

/// A delay of `mean` on average; a few are much longer.
pub(super) fn delay(random: &mut Random, mean: u64) -> u64 {
    let usual = mean / 2 + random.wide_below(mean + 1);
    if random.below(LONG) == 0 { usual * 8 } else { usual }
}

/// The time from a request to the action of the server.
pub(super) fn request(random: &mut Random, delays: Delays) -> u64 {
    delay(random, delays.network) + delay(random, delays.service)
}

impl ProfiledRun {
    /// Draws the statements of a transaction.
    pub(super) fn plan(&mut self, transaction: &mut Transaction) {
        let (operations, rollbacks, lost_answers) =
            (self.load.operations, self.load.rollbacks, self.load.lost_answers);
        let operations = self.server.store.random.between(operations) as usize;
        while transaction.plan.len() < operations {
            self.plan_statement(&mut transaction.plan, operations);
        }
        transaction.rolls_back = self.is_one_of(rollbacks);
        transaction.moment = self.server.store.random.below(4);
        if !transaction.rolls_back && self.is_one_of(lost_answers) {
            transaction.lost =
                if self.server.store.random.below(2) == 0 { Lost::Request } else { Lost::Answer };
        }
    }

    pub(super) fn is_one_of(&mut self, thousandths: u32) -> bool {
        thousandths > 0 && self.server.store.random.below(1000) < thousandths
    }

    fn plan_statement(&mut self, plan: &mut Vec<Request>, operations: usize) {
        if self.is_one_of(self.load.reads) {
            plan.push(self.planned_read());
            return;
        }
        let share = self.server.store.random.below(1000);
        let Load { inserts, deletes, updates_after_reads, .. } = self.load;
        if share < inserts {
            plan.push(self.planned_change(Kind::Insert, Statement::Insert, true));
        } else if share < inserts + deletes {
            plan.push(self.planned_change(Kind::Delete, Statement::Delete, false));
        } else {
            let row = self.draw.row(&mut self.server.store.random);
            if plan.len() + 1 < operations && self.is_one_of(updates_after_reads) {
                let statement = self.planned_statement();
                plan.push(Request { kind: Kind::Read, statement, low: row, high: row });
            }
            plan.push(Request { kind: Kind::Write, statement: Statement::Update, low: row, high: row });
        }
    }

    fn planned_statement(&mut self) -> Statement {
        let share = self.server.store.random.below(1000);
        match self.load.for_update {
            for_update if share < for_update => Statement::SelectForUpdate,
            for_update if share < for_update + self.load.for_share => Statement::SelectForShare,
            _ => Statement::Select,
        }
    }

    fn planned_read(&mut self) -> Request {
        let statement = self.planned_statement();
        let low = self.draw.row(&mut self.server.store.random);
        if !self.is_one_of(self.load.ranges) {
            return Request { kind: Kind::Read, statement, low, high: low };
        }
        let length = self.server.store.random.below(self.load.longest_range.max(1));
        let high = (low + length).min(self.server.table_of(low).1);
        Request { kind: Kind::RangeRead, statement, low, high }
    }

    /// A change of a row that exists, or that does not, if a few tries find one.
    fn planned_change(&mut self, kind: Kind, statement: Statement, is_absent: bool) -> Request {
        let mut row = self.draw.row(&mut self.server.store.random);
        for _ in 0..TRIES {
            if (self.server.store.rows[row as usize].newest().value == ABSENT) == is_absent {
                break;
            }
            row = self.draw.row(&mut self.server.store.random);
        }
        Request { kind, statement, low: row, high: row }
    }
}
