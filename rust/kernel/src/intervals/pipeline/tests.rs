use super::*;
use crate::generate::random::Random;

type Items = Vec<Vec<(i64, u32)>>;

/// Items of some clients, each in order; `shape` says how uneven their times are.
fn clients(random: &mut Random, shape: u32) -> Items {
    let count = 1 + random.below(6);
    (0..count)
        .map(|client| {
            let (mut time, length) = (i64::from(random.below(30)), random.below(60));
            let mut said = Vec::new();
            for place in 0..length {
                time += i64::from(match shape {
                    0 => random.below(3),
                    1 => random.below(3) * (1 + client * client * 40),
                    _ => random.below(100) / 97 * 500,
                });
                said.push((time, place));
            }
            said
        })
        .collect()
}

/// Every item by time, client and place.
fn in_order(said: &Items) -> Vec<(i64, u32, u32)> {
    let items = said.iter().zip(0..);
    let mut all: Vec<_> = items
        .flat_map(|(items, client)| items.iter().map(move |&(before, item)| (before, client, item)))
        .collect();
    all.sort_unstable();
    all
}

fn collect(out: &mut Vec<(i64, u32, u32)>) -> impl FnMut(u32, &[(i64, u32)]) {
    |client, items| out.extend(items.iter().map(|&(before, item)| (before, client, item)))
}

fn sorted(sorter: &mut impl Sorter<u32>, said: &Items) -> Vec<(i64, u32, u32)> {
    let mut sources: Vec<_> = said.iter().map(|items| items.iter().copied()).collect();
    let mut out = Vec::new();
    sort(sorter, &mut sources, collect(&mut out)).unwrap();
    out
}

fn dispatched(pipeline: &mut Pipeline<u32>) -> Vec<(i64, u32, u32)> {
    let mut out = Vec::new();
    pipeline.dispatch(collect(&mut out));
    out
}

fn say(pipeline: &mut Pipeline<u32>, client: u32, times: impl IntoIterator<Item = i64>) {
    times.into_iter().for_each(|before| pipeline.push(client, before, 0).unwrap());
}

fn finish<T>(pipeline: &mut Pipeline<T>, clients: impl IntoIterator<Item = u32>) {
    clients.into_iter().for_each(|client| pipeline.finish(client));
}

fn each_kind(mut try_it: impl FnMut(&mut Random, Options, Items)) {
    for seed in 0..600 {
        let mut random = Random(seed);
        let said = clients(&mut random, seed as u32 % 3);
        let capacity = 1 + random.below(9) as usize;
        let options = Options { batch: seed & 4 != 0, adaptive: seed & 8 != 0, capacity };
        try_it(&mut random, options, said);
    }
}

#[test]
fn theorem_1_the_order_is_that_of_time_client_and_place_for_every_order_of_fetches() {
    each_kind(|_, options, said| {
        let expected = in_order(&said);
        assert_eq!(sorted(&mut Pipeline::new(options), &said), expected);
        assert_eq!(sorted(&mut Plain::new(options.capacity), &said), expected);
        assert_eq!(sorted(&mut Naive::new(), &said), expected);
    });
}

#[test]
fn theorem_1_holds_for_every_order_of_arrival_and_dispatch() {
    each_kind(|random, options, said| {
        let mut pipeline = Pipeline::new(options);
        let mut sources: Vec<_> = said.iter().map(|items| items.iter().copied()).collect();
        let mut unfinished: Vec<u32> = (0..said.len() as u32).collect();
        for &client in &unfinished {
            pipeline.heartbeat(client, 0);
        }
        let mut out = Vec::new();
        while !unfinished.is_empty() {
            let place = random.below(unfinished.len() as u32) as usize;
            let client = unfinished[place];
            match sources[client as usize].next() {
                Some((before, item)) => {
                    if random.below(4) == 0 {
                        pipeline.heartbeat(client, before);
                    }
                    pipeline.push(client, before, item).unwrap();
                }
                None => pipeline.finish(unfinished.swap_remove(place)),
            }
            if random.below(3) == 0 {
                let before = pipeline.watermark();
                let part = dispatched(&mut pipeline);
                assert!(part.iter().all(|item| before.is_none_or(|watermark| item.0 < watermark)));
                out.extend(part);
            }
        }
        out.extend(dispatched(&mut pipeline));
        assert_eq!(out, in_order(&said));
        assert!(pipeline.is_empty());
    });
}

#[test]
fn partitions_are_each_in_order_and_lose_nothing() {
    each_kind(|random, options, said| {
        let count = 1 + random.below(4) as usize;
        let key = |item: &u32| *item as usize * 7;
        let mut partitions = Partitions::new(options, vec![Vec::new(); count], key);
        (0..said.len() as u32).for_each(|client| partitions.heartbeat(client, 0));
        let mut sources: Vec<_> = said.iter().map(|items| items.iter().copied()).collect();
        while let Some(client) = partitions.client_to_fetch_from() {
            match sources[client as usize].next() {
                Some((before, item)) => partitions.push(client, before, item).unwrap(),
                None => partitions.finish(client),
            }
            partitions.dispatch(|out, client, items| collect(out)(client, items));
        }
        for (part, out) in partitions.into_verifiers().into_iter().enumerate() {
            let mut expected = in_order(&said);
            expected.retain(|(_, _, item)| key(item) % count == part);
            assert_eq!(out, expected);
        }
    });
}

#[test]
fn a_client_that_is_fetched_from_when_it_holds_the_watermark_back_has_at_most_one_fetch_waiting() {
    // All items of the last client are before the second item of the first one.
    let said: Items = (0..8)
        .map(|client: i64| {
            (0..2000).map(|place| (i64::from(place) * 10_i64.pow(7 - client as u32), place)).collect()
        })
        .collect();
    let options = Options { capacity: 16, ..Options::default() };
    let mut adaptive = Pipeline::new(options);
    sorted(&mut adaptive, &said);
    assert!(adaptive.max_waiting() <= 8 * (16 + 1), "{}", adaptive.max_waiting());
    let mut plain = Plain::new(16);
    sorted(&mut plain, &said);
    assert!(plain.max_waiting() > 7000, "{}", plain.max_waiting());
}

#[test]
fn consecutive_items_of_one_client_are_one_batch() {
    let mut pipeline = Pipeline::new(Options::default());
    for (client, times) in [(0, [1, 2, 9, 10, 13, 14]), (1, [3, 4, 11, 12, 15, 16])] {
        say(&mut pipeline, client, times);
        pipeline.finish(client);
    }
    let mut batches = Vec::new();
    pipeline.dispatch(|client, items| batches.push((client, items.iter().map(|item| item.0).collect())));
    let expected: Vec<(u32, Vec<i64>)> = vec![
        (0, vec![1, 2]),
        (1, vec![3, 4]),
        (0, vec![9, 10]),
        (1, vec![11, 12]),
        (0, vec![13, 14]),
        (1, vec![15, 16]),
    ];
    assert_eq!(batches, expected);
}

#[test]
fn a_long_run_ends_where_another_client_begins() {
    for end in [1, 7, 8, 9, 15, 16, 17, 100, 999] {
        let mut pipeline = Pipeline::new(Options::default());
        say(&mut pipeline, 1, 0..1000);
        pipeline.push(0, end, 0).unwrap();
        finish(&mut pipeline, [0, 1]);
        let mut lengths = Vec::new();
        pipeline.dispatch(|client, items| lengths.push((client, items.len() as i64)));
        assert_eq!(lengths, [(1, end), (0, 1), (1, 1000 - end)]);
    }
}

#[test]
fn an_idle_client_holds_everything_back_until_its_heartbeat() {
    let mut pipeline = Pipeline::new(Options::default());
    pipeline.heartbeat(1, 5);
    say(&mut pipeline, 0, [3, 5, 8]);
    assert_eq!((pipeline.watermark(), pipeline.client_to_fetch_from()), (Some(5), Some(1)));
    assert_eq!(dispatched(&mut pipeline), [(3, 0, 0)]);
    pipeline.heartbeat(1, 7);
    assert_eq!(dispatched(&mut pipeline), [(5, 0, 0)]);
    pipeline.heartbeat(1, 6);
    assert_eq!(pipeline.watermark(), Some(7), "a heartbeat takes nothing back");
    pipeline.finish(1);
    assert_eq!((pipeline.watermark(), pipeline.client_to_fetch_from()), (Some(8), Some(0)));
    pipeline.finish(0);
    assert_eq!(pipeline.watermark(), None);
    assert_eq!(dispatched(&mut pipeline), [(8, 0, 0)]);
}

#[test]
fn an_item_before_the_last_one_is_refused() {
    let mut pipeline = Pipeline::new(Options::default());
    say(&mut pipeline, 0, [4, 9]);
    assert_eq!(pipeline.push(0, 8, 0), Err(TooLate { client: 0, before: 8, earliest: 9 }));
    pipeline.heartbeat(0, 12);
    assert_eq!(pipeline.push(0, 11, 0), Err(TooLate { client: 0, before: 11, earliest: 12 }));
    assert_eq!((pipeline.len(), pipeline.max_waiting()), (2, 2));
}

#[test]
fn a_client_joins_where_nothing_was_dispatched_yet() {
    let mut pipeline = Pipeline::new(Options::default());
    say(&mut pipeline, 0, [4, 9]);
    pipeline.push(1, 2, 0).unwrap();
    pipeline.finish(1);
    assert_eq!(dispatched(&mut pipeline), [(2, 1, 0), (4, 0, 0)]);
    assert_eq!(pipeline.push(7, 8, 0), Err(TooLate { client: 7, before: 8, earliest: 9 }));
    assert_eq!(pipeline.watermark(), Some(9), "a client that was refused has not joined");
    pipeline.push(7, 9, 0).unwrap();
    pipeline.push(1, 10, 0).unwrap();
    finish(&mut pipeline, [0, 1, 7]);
    assert_eq!(dispatched(&mut pipeline), [(9, 0, 0), (9, 7, 0), (10, 1, 0)]);
    assert_eq!(pipeline.push(7, 9, 0), Err(TooLate { client: 7, before: 9, earliest: 10 }));
}

#[test]
fn the_ends_of_time_are_times() {
    let mut pipeline = Pipeline::new(Options::default());
    pipeline.push(1, i64::MIN, 0).unwrap();
    pipeline.push(0, i64::MIN, 1).unwrap();
    assert!(dispatched(&mut pipeline).is_empty());
    pipeline.push(1, i64::MAX - 1, 2).unwrap();
    finish(&mut pipeline, [0, 1]);
    let expected = [(i64::MIN, 0, 1), (i64::MIN, 1, 0), (i64::MAX - 1, 1, 2)];
    assert_eq!(dispatched(&mut pipeline), expected);
}

#[test]
fn items_need_not_be_plain_numbers() {
    let mut pipeline = Pipeline::new(Options::default());
    (0..100).for_each(|before| pipeline.push(before as u32 % 3, before, before.to_string()).unwrap());
    let mut seen = Vec::new();
    pipeline.dispatch(|_, items| seen.extend(items.iter().map(|(_, item)| item.clone())));
    finish(&mut pipeline, 0..3);
    pipeline.dispatch(|_, items| seen.extend(items.iter().map(|(_, item)| item.clone())));
    let expected: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    assert_eq!(seen, expected);
}
