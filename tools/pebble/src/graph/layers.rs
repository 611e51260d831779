//! A layered layout: who calls stands above whom it calls, and neighbours are ordered to cross few lines.

use super::Graph;

/// Who stands above, and who below.
type Line = (usize, usize);

/// Rows of domain indices, callers first.
pub fn rows(graph: &Graph) -> Vec<Vec<usize>> {
    let calls = graph.calls.iter().map(|call| (call.from, call.to));
    // The core, which every domain calls, stands at the bottom.
    arrange(graph.domains.len(), calls.collect(), &|index| {
        graph.domains[index].role != "ordinary"
    })
}

/// Rows of the first `count` numbers, so that lines lead downwards where no cycle forbids it. What has no line and is `sunk`
/// stands below everything.
pub fn arrange(count: usize, lines: Vec<Line>, sunk: &dyn Fn(usize) -> bool) -> Vec<Vec<usize>> {
    let calls = acyclic(count, lines);
    let mut layer = vec![0; count];
    // Longest path from a caller nobody calls; without cycles this settles within `count` rounds.
    for _ in 0..count {
        for (from, to) in &calls {
            layer[*to] = layer[*to].max(layer[*from] + 1);
        }
    }
    let lowest = layer.iter().copied().max().unwrap_or(0);
    for (index, layer) in layer.iter_mut().enumerate() {
        let connected = calls
            .iter()
            .any(|(from, to)| *to == index || *from == index);
        if !connected && sunk(index) {
            *layer = lowest + 1;
        }
    }
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); lowest + 2];
    for (index, layer) in layer.iter().enumerate() {
        rows[*layer].push(index);
    }
    rows.retain(|row| !row.is_empty());
    for _ in 0..4 {
        order(&mut rows, &calls);
    }
    rows
}

/// The lines without those that close a cycle.
fn acyclic(count: usize, lines: Vec<Line>) -> Vec<Line> {
    let mut below = vec![Vec::new(); count];
    let mut kept = Vec::new();
    for (from, to) in lines {
        if !reaches(&below, to, from) {
            below[from].push(to);
            kept.push((from, to));
        }
    }
    kept
}

fn reaches(below: &[Vec<usize>], from: usize, to: usize) -> bool {
    let mut seen = vec![false; below.len()];
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        if !std::mem::replace(&mut seen[at], true) {
            open.extend(&below[at]);
        }
    }
    false
}

/// Moves each domain to the middle of those it is connected with.
fn order(rows: &mut [Vec<usize>], calls: &[Line]) {
    let mut place = std::collections::HashMap::new();
    for row in rows.iter() {
        for (position, index) in row.iter().enumerate() {
            place.insert(*index, (position as f64 + 0.5) / row.len() as f64);
        }
    }
    for row in rows.iter_mut() {
        let middle = |index: &usize| {
            let near: Vec<f64> = calls
                .iter()
                .filter_map(|(from, to)| match (from == index, to == index) {
                    (true, _) => place.get(to).copied(),
                    (_, true) => place.get(from).copied(),
                    _ => None,
                })
                .collect();
            if near.is_empty() {
                place.get(index).copied().unwrap_or(0.5)
            } else {
                near.iter().sum::<f64>() / near.len() as f64
            }
        };
        row.sort_by(|one, other| middle(one).total_cmp(&middle(other)));
        // At once: two rows that move by each other's old places would stay crossed for ever.
        for (position, index) in row.iter().enumerate() {
            place.insert(*index, (position as f64 + 0.5) / row.len() as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Call, Domain};
    use super::*;

    fn graph(count: usize, calls: &[(usize, usize)]) -> Graph {
        let domain = |index: usize| Domain {
            name: format!("d{index}"),
            role: "ordinary",
            role_number: 0,
            priority: 1,
            memory_pages: 1,
            devices: vec![],
            registers: vec![],
        };
        let calls = calls.iter().map(|(from, to)| Call {
            from: *from,
            to: *to,
            names: vec![],
        });
        Graph {
            system: "s".into(),
            domains: (0..count).map(domain).collect(),
            calls: calls.collect(),
        }
    }

    #[test]
    fn callers_stand_above() {
        assert_eq!(
            rows(&graph(3, &[(2, 1), (1, 0)])),
            [vec![2], vec![1], vec![0]]
        );
    }

    #[test]
    fn cycles_end_and_lose_nobody() {
        let rows = rows(&graph(4, &[(0, 1), (1, 2), (2, 0), (3, 3)]));
        let mut all: Vec<usize> = rows.concat();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
    }

    #[test]
    fn lines_are_uncrossed() {
        let rows = rows(&graph(4, &[(0, 3), (1, 2)]));
        let crossed = rows == [vec![0, 1], vec![2, 3]] || rows == [vec![1, 0], vec![3, 2]];
        assert!(!crossed, "{rows:?}");
    }
}
