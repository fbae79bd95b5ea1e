//! Circles in what is said of the order of one key's versions.

use super::super::dependencies::components;
use super::Extra;
use crate::graph::Edges;
use std::ops::Range;

/// The strongly connected part that each version is in.
pub(super) fn knots(versions: Range<u32>, order: &[Extra]) -> Vec<u32> {
    let start = versions.start;
    let pairs: Vec<(u32, u32)> =
        order.iter().map(|extra| (extra.after - start, extra.before - start)).collect();
    let edges = Edges::collected(versions.len(), &[&pairs]);
    components(&edges, versions.len()).of
}

/// A circle in the order of some versions, if there is one: a short one.
pub(super) fn circle(versions: Range<u32>, order: &[Extra]) -> Option<Vec<Extra>> {
    let start = versions.start;
    let count = versions.len();
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    let mut waiting = vec![0u32; count];
    for extra in &sorted {
        waiting[(extra.after - start) as usize] += 1;
    }
    let after = |version: u32| {
        let from = sorted.partition_point(|extra| extra.before < version);
        sorted[from..].iter().take_while(move |extra| extra.before == version)
    };
    let mut free: Vec<u32> = (0..count as u32).filter(|&place| waiting[place as usize] == 0).collect();
    let mut left = count;
    while let Some(place) = free.pop() {
        left -= 1;
        for extra in after(start + place) {
            let waiting = &mut waiting[(extra.after - start) as usize];
            *waiting -= 1;
            if *waiting == 0 {
                free.push(extra.after - start);
            }
        }
    }
    if left == 0 {
        return None;
    }
    let on_circle = (0..count as u32).filter(|&place| waiting[place as usize] > 0);
    on_circle.filter_map(|place| shortest_circle(start, start + place, count, &after)).min_by_key(Vec::len)
}

/// The shortest way from a version back to itself.
fn shortest_circle<'o, I: Iterator<Item = &'o Extra>>(
    start: u32,
    version: u32,
    count: usize,
    after: &impl Fn(u32) -> I,
) -> Option<Vec<Extra>> {
    let mut came_by: Vec<Option<Extra>> = vec![None; count];
    let mut reached = vec![version];
    let mut next = 0;
    while next < reached.len() {
        for &extra in after(reached[next]) {
            if extra.after == version {
                let mut way = vec![extra];
                while way[way.len() - 1].before != version {
                    way.push(came_by[(way[way.len() - 1].before - start) as usize]?);
                }
                way.reverse();
                return Some(way);
            }
            let slot = &mut came_by[(extra.after - start) as usize];
            if slot.is_none() {
                *slot = Some(extra);
                reached.push(extra.after);
            }
        }
        next += 1;
    }
    None
}
