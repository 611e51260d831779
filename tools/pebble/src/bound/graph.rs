//! Longest paths in a graph with weights, whose loops have bounds.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{bail, Result};

/// Instructions by address: how many each stands for, and where it goes on.
#[derive(Default)]
pub struct Graph {
    /// Weight of a node.
    pub weight: BTreeMap<u64, u64>,
    /// Ways on.
    pub next: BTreeMap<u64, Vec<u64>>,
}

/// How often the head of a loop is executed at most, each time the loop is entered.
pub type Bound<'a> = dyn FnMut(u64) -> Result<u64> + 'a;

/// Weight of the heaviest path from `entry` to wherever it ends.
pub fn longest(graph: &Graph, entry: u64, bound: &mut Bound<'_>) -> Result<u64> {
    let nodes: BTreeSet<u64> = graph.weight.keys().copied().collect();
    heaviest(graph, &nodes, entry, None, bound)
}

/// As [`longest`], among `nodes`; edges to `head` do not count.
fn heaviest(
    graph: &Graph,
    nodes: &BTreeSet<u64>,
    entry: u64,
    head: Option<u64>,
    bound: &mut Bound<'_>,
) -> Result<u64> {
    let ways = |node: u64| -> Vec<u64> {
        let next = graph.next.get(&node).map(Vec::as_slice).unwrap_or_default();
        let inside = next
            .iter()
            .filter(|to| nodes.contains(to) && Some(**to) != head);
        inside.copied().collect()
    };
    // Components come out in the order in which everything behind them is known already.
    let components = components(entry, &ways);
    let mut cost: BTreeMap<u64, u64> = BTreeMap::new();
    for component in &components {
        let members: BTreeSet<u64> = component.iter().copied().collect();
        let behind = members
            .iter()
            .flat_map(|&node| ways(node))
            .filter(|to| !members.contains(to))
            .filter_map(|to| cost.get(&to).copied())
            .max()
            .unwrap_or(0);
        let first = component[0];
        let looping = component.len() > 1 || ways(first).contains(&first);
        let own = if looping {
            let head = head_of(&members, entry, &components, &ways)?;
            let once = heaviest(graph, &members, head, Some(head), bound)?;
            once * bound(head)?
        } else {
            graph.weight.get(&first).copied().unwrap_or(0)
        };
        for node in component {
            cost.insert(*node, own + behind);
        }
    }
    Ok(cost.get(&entry).copied().unwrap_or(0))
}

/// The only node of a loop that is entered from outside.
fn head_of(
    members: &BTreeSet<u64>,
    entry: u64,
    components: &[Vec<u64>],
    ways: &dyn Fn(u64) -> Vec<u64>,
) -> Result<u64> {
    let outside = components.iter().flatten().filter(|n| !members.contains(n));
    let mut heads: BTreeSet<u64> = outside
        .flat_map(|&node| ways(node))
        .filter(|to| members.contains(to))
        .collect();
    if members.contains(&entry) {
        heads.insert(entry);
    }
    match heads.iter().collect::<Vec<_>>()[..] {
        [head] => Ok(*head),
        _ => bail!("a loop with {} ways in, at {heads:x?}", heads.len()),
    }
}

/// Strongly connected components of what `entry` leads to, after Tarjan, without recursion; a component comes after all
/// that it leads to.
fn components(entry: u64, ways: &dyn Fn(u64) -> Vec<u64>) -> Vec<Vec<u64>> {
    struct Visit {
        node: u64,
        ways: Vec<u64>,
        taken: usize,
    }
    let mut found = Vec::new();
    let mut order: BTreeMap<u64, usize> = BTreeMap::new();
    let mut low: BTreeMap<u64, usize> = BTreeMap::new();
    let mut open: Vec<u64> = Vec::new();
    let mut is_open: BTreeSet<u64> = BTreeSet::new();
    let mut visits = vec![Visit {
        node: entry,
        ways: ways(entry),
        taken: 0,
    }];
    while let Some(visit) = visits.last_mut() {
        let node = visit.node;
        if visit.taken == 0 && !order.contains_key(&node) {
            let number = order.len();
            order.insert(node, number);
            low.insert(node, number);
            open.push(node);
            is_open.insert(node);
        }
        if let Some(&to) = visit.ways.get(visit.taken) {
            visit.taken += 1;
            if !order.contains_key(&to) {
                let ways = ways(to);
                visits.push(Visit {
                    node: to,
                    ways,
                    taken: 0,
                });
            } else if is_open.contains(&to) {
                let least = low[&node].min(order[&to]);
                low.insert(node, least);
            }
            continue;
        }
        visits.pop();
        if let Some(parent) = visits.last() {
            let least = low[&parent.node].min(low[&node]);
            low.insert(parent.node, least);
        }
        if low[&node] == order[&node] {
            let mut component = Vec::new();
            while let Some(member) = open.pop() {
                is_open.remove(&member);
                component.push(member);
                if member == node {
                    break;
                }
            }
            found.push(component);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(u64, u64)]) -> Graph {
        let mut graph = Graph::default();
        for &(from, to) in edges {
            graph.weight.insert(from, from);
            graph.weight.insert(to, to);
            graph.next.entry(from).or_default().push(to);
        }
        graph
    }

    #[test]
    fn the_heavier_branch_counts() -> Result<()> {
        let diamond = graph(&[(1, 10), (1, 20), (10, 3), (20, 3)]);
        assert_eq!(longest(&diamond, 1, &mut |_| bail!("no loop"))?, 24);
        Ok(())
    }

    #[test]
    fn a_loop_counts_as_often_as_its_bound_says() -> Result<()> {
        // 1 -> 2 -> 5 -> 2 (loop of 7), 2 -> 100
        let loops = graph(&[(1, 2), (2, 5), (5, 2), (2, 100)]);
        let mut bound = |head| if head == 2 { Ok(3) } else { bail!("{head}") };
        assert_eq!(longest(&loops, 1, &mut bound)?, 1 + 3 * 7 + 100);
        Ok(())
    }

    #[test]
    fn loops_within_loops_multiply() -> Result<()> {
        // outer head 2, inner head 5 with body 6
        let nested = graph(&[(1, 2), (2, 5), (5, 6), (6, 5), (5, 2), (2, 9)]);
        let mut bound = |head| Ok(if head == 2 { 2 } else { 4 });
        let inner = 4 * (5 + 6);
        assert_eq!(longest(&nested, 1, &mut bound)?, 1 + 2 * (2 + inner) + 9);
        Ok(())
    }

    #[test]
    fn a_loop_with_two_ways_in_is_refused() {
        let irreducible = graph(&[(1, 2), (1, 3), (2, 3), (3, 2)]);
        assert!(longest(&irreducible, 1, &mut |_| Ok(1)).is_err());
    }
}
