//! A checkpoint: everything an engine knows, as bytes that depend on nothing else.

use super::bytes::{Bytes, Damaged, Read, Rest};
use super::first::{First, Suspects};
use super::key::{Key, Read as KeyRead, Shape, Version};
use super::lists::Lists;
use super::report::{Kept, News, Shown, StaleRead};
use super::spill::Segment;
use super::stability::{Doubt, Stability};
use super::transactions::{Operation, Transaction, Transactions};
use super::{Engine, Sizes, Terms};
use crate::clock::list::Relation;
use crate::clock::{Isolation, NAMES, Name};
use crate::history::Kind;
use crate::value::{Value, Values};
use hashbrown::{HashMap, HashSet};
use std::cmp::Reverse;

/// Changes whenever the bytes mean something else.
const VERSION: u64 = 1;
const SHAPES: [Shape; 3] = [Shape::Open, Shape::Register, Shape::List];
const ALL_NAMES: [Name; NAMES] = [
    Name::StaleRead,
    Name::SessionOrder,
    Name::WriteConflict,
    Name::TimestampInversion,
    Name::NotMyOwnWrite,
    Name::NotMyLastWrite,
    Name::NonRepeatableRead,
];
const RELATIONS: [Relation; 6] = [
    Relation::Register,
    Relation::Equal,
    Relation::Earlier,
    Relation::Torn,
    Relation::Further,
    Relation::Different,
];

impl Engine {
    /// Everything, as bytes: the same state gives the same ones.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut bytes = Bytes::default();
        let Terms { isolation, most, timeout, keep } = self.terms;
        for number in [VERSION, isolation as u64, most as u64, timeout, keep] {
            bytes.number(number);
        }
        self.save_names(&mut bytes);
        bytes.all(
            (0..self.transactions.slots() as u32).map(|slot| self.transactions.find(slot)),
            |bytes, one| {
                bytes.flag(one.is_some());
                if let Some(one) = one {
                    save_transaction(bytes, one, &self.lists, &self.values);
                }
            },
        );
        bytes.all(self.keys.iter(), save_key);
        self.save_queues(&mut bytes);
        self.save_found(&mut bytes);
        bytes.0
    }

    fn save_names(&self, bytes: &mut Bytes) {
        bytes.all(0..self.values.atom_count(), |bytes, index| {
            let (kind, text) = self.values.atom(index);
            bytes.0.push(kind as u8);
            bytes.number(text.len() as u64);
            bytes.0.extend_from_slice(text.as_bytes());
        });
        bytes.word(self.initial.unwrap_or(Value::UNKNOWN));
        bytes.all(self.index.ids().iter(), |bytes, &id| bytes.word(id));
        bytes.all(self.sessions.ids().iter(), |bytes, &id| bytes.word(id));
        bytes.all(self.latest.iter(), |bytes, slot| bytes.number(slot.map_or(0, |slot| u64::from(slot) + 1)));
        bytes.all(self.places.iter(), |bytes, &place| bytes.number(place.into()));
        bytes.all(self.lane_of.iter(), |bytes, &lane| bytes.number(lane.into()));
        bytes.number(self.lanes.into());
        bytes.number(self.texts as u64);
    }

    fn save_queues(&self, bytes: &mut Bytes) {
        bytes.all(self.pending.iter(), |bytes, &slot| bytes.number(slot.into()));
        bytes.all(self.kept.iter(), |bytes, &slot| bytes.number(slot.into()));
        bytes.all(self.earliest.iter(), |bytes, &(number, moment)| {
            bytes.number(number);
            bytes.time(moment);
        });
        let mut leaving: Vec<_> = self.leaving.iter().map(|&Reverse(one)| one).collect();
        leaving.sort_unstable();
        bytes.all(leaving.into_iter(), |bytes, (last, slot)| {
            bytes.time(last);
            bytes.number(slot.into());
        });
        bytes.time(self.watermark);
        bytes.time(self.passed);
        let mut times: Vec<_> = self.times.iter().collect();
        times.sort_unstable();
        bytes.all(times.into_iter(), |bytes, (&time, &(number, is_counted))| {
            bytes.time(time);
            bytes.number(number);
            bytes.flag(is_counted);
        });
        bytes.number(self.times_kept as u64);
        let segments = self.spill.as_ref().map_or(&self.segments, |spill| &spill.segments);
        bytes.all(segments.iter(), |bytes, segment| {
            for number in [segment.index, segment.entries, segment.times] {
                bytes.number(number);
            }
            bytes.time(segment.earliest);
            bytes.time(segment.latest);
        });
    }

    fn save_found(&self, bytes: &mut Bytes) {
        for count in self.counts.into_iter().chain(self.sizes.numbers()) {
            bytes.number(count);
        }
        let Stability { of_reads, of_transactions, rectified } = &self.stability;
        for histogram in [&of_reads[..], &of_transactions[..], rectified] {
            bytes.all(histogram.iter(), |bytes, &count| bytes.number(count));
        }
        let mut doubts: Vec<_> = self.doubts.iter().map(|(&read, &doubt)| (read, doubt)).collect();
        doubts.sort_unstable_by_key(|&(read, _)| read);
        bytes.all(doubts.into_iter(), |bytes, ((slot, read), Doubt { since, flips })| {
            for number in [slot.into(), read.into(), since, flips.into()] {
                bytes.number(number);
            }
        });
        for shown in &self.found.shown {
            bytes.all(shown.iter(), save_shown);
        }
        bytes.all(self.found.recent.iter(), |bytes, (number, shown)| {
            bytes.number(*number);
            save_shown(bytes, shown);
        });
        bytes.all(self.found.news.iter(), save_news);
        bytes.number(self.found.told);
    }

    /// The engine that was saved.
    ///
    /// # Errors
    /// If these are no bytes of a checkpoint.
    pub fn load(bytes: &[u8]) -> Result<Self, Damaged> {
        let mut rest = Rest(bytes);
        if rest.number()? != VERSION {
            return Err(Damaged);
        }
        let isolation = if rest.number()? == 0 { Isolation::Snapshot } else { Isolation::Serializable };
        let (most, timeout, keep) = (rest.number()? as usize, rest.number()?, rest.number()?);
        let mut engine = Self::new(Terms { isolation, most, timeout, keep });
        engine.load_names(&mut rest)?;
        let (lists, values) = (&mut engine.lists, &mut engine.values);
        let slots =
            rest.all(|rest| rest.flag()?.then(|| load_transaction(rest, lists, values)).transpose())?;
        engine.transactions = Transactions::restore(slots);
        let transactions = &engine.transactions;
        engine.keys = rest.all(|rest| load_key(rest, transactions, isolation))?;
        for (slot, transaction) in engine.transactions.iter() {
            engine.ids.insert(transaction.id, slot);
        }
        engine.load_queues(&mut rest)?;
        engine.load_found(&mut rest)?;
        if rest.0.is_empty() { Ok(engine) } else { Err(Damaged) }
    }

    fn load_names(&mut self, rest: &mut Rest<'_>) -> Read<()> {
        let mut values = Values::default();
        rest.all(|rest| rest.scalar(&mut values))?;
        self.values = values;
        self.initial = Some(rest.word()?).filter(|&value| value != Value::UNKNOWN);
        for id in rest.all(Rest::word)? {
            self.index.number(id);
        }
        for id in rest.all(Rest::word)? {
            self.sessions.number(id);
        }
        self.latest = rest.all(|rest| Ok(rest.small()?.checked_sub(1)))?;
        self.places = rest.all(Rest::small)?;
        self.lane_of = rest.all(Rest::small)?;
        self.lanes = rest.small()?;
        self.texts = rest.number()? as usize;
        Ok(())
    }

    fn load_queues(&mut self, rest: &mut Rest<'_>) -> Read<()> {
        self.pending = rest.all(Rest::small)?.into();
        self.kept = rest.all(Rest::small)?.into();
        self.earliest = rest.all(|rest| Ok((rest.number()?, rest.time()?)))?.into();
        self.leaving = rest.all(|rest| Ok(Reverse((rest.time()?, rest.small()?))))?.into();
        self.watermark = rest.time()?;
        self.passed = rest.time()?;
        let times = rest.all(|rest| Ok((rest.time()?, (rest.number()?, rest.flag()?))))?;
        self.times = times.into_iter().collect();
        self.times_kept = rest.number()? as usize;
        let mut number = 0;
        self.segments = rest.all(|rest| {
            number += 1;
            let (index, entries, times) = (rest.number()?, rest.number()?, rest.number()?);
            let (earliest, latest) = (rest.time()?, rest.time()?);
            Ok(Segment { number: number - 1, index, entries, times, earliest, latest })
        })?;
        Ok(())
    }

    fn load_found(&mut self, rest: &mut Rest<'_>) -> Read<()> {
        for count in &mut self.counts {
            *count = rest.number()?;
        }
        let mut sizes = [0; Sizes::COUNT];
        for size in &mut sizes {
            *size = rest.number()?;
        }
        self.sizes = Sizes::from_numbers(sizes);
        let mut histogram = || rest.all(Rest::number);
        let (reads, transactions, rectified) = (histogram()?, histogram()?, histogram()?);
        self.stability = Stability {
            of_reads: reads.try_into().map_err(|_| Damaged)?,
            of_transactions: transactions.try_into().map_err(|_| Damaged)?,
            rectified,
        };
        let doubts = rest.all(|rest| {
            let read = (rest.small()?, rest.small()?);
            Ok((read, Doubt { since: rest.number()?, flips: rest.small()? }))
        })?;
        self.doubts = doubts.into_iter().collect();
        self.found = Kept::new(self.terms.most);
        for shown in &mut self.found.shown {
            *shown = rest.all(load_shown)?;
        }
        self.found.recent = rest.all(|rest| Ok((rest.number()?, load_shown(rest)?)))?.into();
        self.found.news = rest.all(load_news)?;
        self.found.told = rest.number()?;
        Ok(())
    }
}

pub(super) fn save_transaction(bytes: &mut Bytes, one: &Transaction, lists: &Lists, values: &Values) {
    let (session, place, lane) = (one.session.into(), one.place.into(), one.lane.into());
    let (references, wrong, flips) = (one.references.into(), one.wrong.into(), one.flips.into());
    for number in [one.number, session, place, lane, one.arrival, references, wrong, flips] {
        bytes.number(number);
    }
    bytes.scalar(values, one.id);
    bytes.time(one.start);
    bytes.time(one.commit);
    bytes.flag(one.is_final);
    bytes.flag(one.is_committed);
    bytes.flag(one.is_late);
    bytes.all(one.operations.iter(), |bytes, operation| {
        bytes.0.push(operation.kind as u8);
        bytes.number(operation.key.into());
        let list = lists.get(operation.value);
        bytes.flag(list.is_some());
        match list {
            Some(list) => bytes.all(list.iter(), |bytes, &element| bytes.scalar(values, element)),
            None => bytes.scalar(values, operation.value),
        }
    });
}

pub(super) fn load_transaction(
    rest: &mut Rest<'_>,
    lists: &mut Lists,
    values: &mut Values,
) -> Read<Transaction> {
    let number = rest.number()?;
    let (session, place, lane) = (rest.small()?, rest.small()?, rest.small()?);
    let arrival = rest.number()?;
    let (references, wrong, flips) = (rest.small()?, rest.small()?, rest.small()?);
    let (id, start, commit) = (rest.scalar(values)?, rest.time()?, rest.time()?);
    let (is_final, is_committed, is_late) = (rest.flag()?, rest.flag()?, rest.flag()?);
    let operations = rest.all(|rest| {
        let kind = *Kind::ALL.get(rest.byte()? as usize).ok_or(Damaged)?;
        let key = rest.small()?;
        let value = if rest.flag()? {
            lists.add(rest.all(|rest| rest.scalar(values))?.into())
        } else {
            rest.scalar(values)?
        };
        Ok(Operation { value, key, kind })
    })?;
    Ok(Transaction {
        number,
        id,
        session,
        place,
        lane,
        start,
        commit,
        arrival,
        operations: operations.into(),
        references,
        wrong,
        flips,
        is_final,
        is_committed,
        is_late,
    })
}

fn save_key(bytes: &mut Bytes, key: &Key) {
    bytes.0.push(key.shape as u8);
    bytes.flag(key.is_used);
    bytes.flag(key.is_cut);
    bytes.flag(key.is_lost);
    bytes.flag(key.is_whole);
    bytes.number(key.held.into());
    bytes.time(key.floor);
    save_first(bytes, &key.first);
    let versions: Vec<&Version> = key.versions.iter().collect();
    bytes.all(versions.into_iter(), |bytes, version| {
        for number in [version.slot, version.write, version.count, version.end] {
            bytes.number(number.into());
        }
    });
    let reads: Vec<&KeyRead> = key.reads.iter().collect();
    bytes.all(reads.into_iter(), save_read);
    bytes.all(key.odd.iter(), save_read);
    bytes.all(key.aside.iter().copied(), save_write);
    bytes.all(key.elements.iter(), |bytes, &element| bytes.word(element));
    bytes.0.extend_from_slice(&key.longest.to_le_bytes());
}

fn load_key(rest: &mut Rest<'_>, transactions: &Transactions, isolation: Isolation) -> Read<Key> {
    let shape = *SHAPES.get(rest.byte()? as usize).ok_or(Damaged)?;
    let (is_used, is_cut, is_lost, is_whole) = (rest.flag()?, rest.flag()?, rest.flag()?, rest.flag()?);
    let (held, floor) = (rest.small()?, rest.time()?);
    let mut key = Key { shape, is_used, is_cut, is_lost, is_whole, held, floor, ..Key::new(None) };
    key.first = load_first(rest)?;
    let versions = rest.all(|rest| Ok([rest.small()?, rest.small()?, rest.small()?, rest.small()?]))?;
    for [slot, write, count, end] in versions {
        let writer = transactions.find(slot).ok_or(Damaged)?;
        let value = writer.operations.get(write as usize).ok_or(Damaged)?.value;
        let (commit, start) = (writer.commit, writer.start);
        key.versions.push(Version { commit, start, value, slot, write, count, end });
    }
    for read in rest.all(|rest| load_read(rest, transactions, isolation))? {
        key.reads.push(read);
    }
    key.odd = rest.all(|rest| load_read(rest, transactions, isolation))?;
    key.aside = rest.all(load_write)?;
    key.elements = rest.all(Rest::word)?;
    key.longest = i128::from_le_bytes(rest.bytes(16)?.try_into().map_err(|_| Damaged)?);
    Ok(key)
}

fn save_first(bytes: &mut Bytes, first: &First) {
    match first {
        First::Known(value) => {
            bytes.0.push(0);
            bytes.word(*value);
        }
        First::Settled(value) => {
            bytes.0.push(1);
            bytes.word(value.unwrap_or(Value::NOTHING));
        }
        First::Open(suspects) => {
            bytes.0.push(2);
            let mut reads: Vec<_> = suspects.reads.iter().collect();
            reads.sort_unstable();
            bytes.all(reads.into_iter(), |bytes, (&value, &(number, read))| {
                bytes.word(value);
                bytes.number(number);
                bytes.number(read.into());
            });
            let mut written: Vec<_> = suspects.written.iter().copied().collect();
            written.sort_unstable();
            bytes.all(written.into_iter(), Bytes::word);
        }
    }
}

fn load_first(rest: &mut Rest<'_>) -> Read<First> {
    Ok(match rest.byte()? {
        0 => First::Known(rest.word()?),
        1 => First::Settled(Some(rest.word()?).filter(|&value| value != Value::NOTHING)),
        _ => {
            let reads = rest.all(|rest| Ok((rest.word()?, (rest.number()?, rest.small()?))))?;
            let written: HashSet<Value> = rest.all(Rest::word)?.into_iter().collect();
            let reads: HashMap<Value, (u64, u32)> = reads.into_iter().collect();
            First::Open(Box::new(Suspects::new(reads, written)))
        }
    })
}

fn save_read(bytes: &mut Bytes, read: &KeyRead) {
    for number in [read.slot, read.place, read.own] {
        bytes.number(number.into());
    }
    bytes.flag(read.is_wrong);
}

fn load_read(rest: &mut Rest<'_>, transactions: &Transactions, isolation: Isolation) -> Read<KeyRead> {
    let (slot, place, own) = (rest.small()?, rest.small()?, rest.small()?);
    let reader = transactions.find(slot).ok_or(Damaged)?;
    let value = reader.operations.get(place as usize).ok_or(Damaged)?.value;
    let time = if isolation == Isolation::Snapshot { reader.start } else { reader.commit };
    Ok(KeyRead { time, value, slot, place, own, is_wrong: rest.flag()? })
}

fn save_write(bytes: &mut Bytes, (slot, place): (u32, u32)) {
    bytes.number(slot.into());
    bytes.number(place.into());
}

fn load_write(rest: &mut Rest<'_>) -> Read<(u32, u32)> {
    Ok((rest.small()?, rest.small()?))
}

fn save_some(bytes: &mut Bytes, some: Option<u32>) {
    bytes.number(some.map_or(0, |some| u64::from(some) + 1));
}

fn load_some(rest: &mut Rest<'_>) -> Read<Option<u32>> {
    Ok(rest.number()?.checked_sub(1).map(|some| some as u32))
}

fn save_shown(bytes: &mut Bytes, shown: &Shown) {
    bytes.0.push(shown.name as u8);
    bytes.number(shown.slot.into());
    save_some(bytes, shown.other);
    bytes.number(shown.key.into());
    bytes.number(shown.operation.into());
    bytes.all(shown.against.into_iter(), save_write);
    bytes.all(shown.stale.iter(), |bytes, stale| {
        bytes.all(stale.list.iter(), |bytes, &value| bytes.word(value));
        bytes.all(stale.expected.iter(), |bytes, &value| bytes.word(value));
        bytes.0.push(stale.relation as u8);
        save_some(bytes, stale.writer);
        bytes.all(stale.writes.iter().copied(), save_write);
        bytes.flag(stale.is_whole);
    });
}

fn load_shown(rest: &mut Rest<'_>) -> Read<Shown> {
    let name = *ALL_NAMES.get(rest.byte()? as usize).ok_or(Damaged)?;
    let (slot, other, key, operation) = (rest.small()?, load_some(rest)?, rest.small()?, rest.small()?);
    let against = rest.all(load_write)?.into_iter().next();
    let stale = rest.all(|rest| {
        let (list, expected) = (rest.all(Rest::word)?, rest.all(Rest::word)?);
        let relation = *RELATIONS.get(rest.byte()? as usize).ok_or(Damaged)?;
        let (writer, writes, is_whole) = (load_some(rest)?, rest.all(load_write)?, rest.flag()?);
        Ok(Box::new(StaleRead { list, expected, relation, writer, writes, is_whole }))
    })?;
    Ok(Shown { name, slot, other, key, operation, against, stale: stale.into_iter().next() })
}

fn save_news(bytes: &mut Bytes, news: &News) {
    bytes.number(news.number);
    bytes.0.push(news.name as u8);
    bytes.word(news.transaction);
    bytes.word(news.other.unwrap_or(Value::NOTHING));
    bytes.word(news.key.unwrap_or(Value::NOTHING));
    bytes.flag(news.is_retracted);
}

fn load_news(rest: &mut Rest<'_>) -> Read<News> {
    let some = |value: Value| Some(value).filter(|&value| value != Value::NOTHING);
    Ok(News {
        number: rest.number()?,
        name: *ALL_NAMES.get(rest.byte()? as usize).ok_or(Damaged)?,
        transaction: rest.word()?,
        other: some(rest.word()?),
        key: some(rest.word()?),
        is_retracted: rest.flag()?,
    })
}
