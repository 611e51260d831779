//! A layered layout: who calls stands above whom it calls, and neighbours are ordered to cross few lines.

use super::{Call, Graph};

/// Rows of domain indices, callers first.
pub fn rows(graph: &Graph) -> Vec<Vec<usize>> {
    let count = graph.domains.len();
    let calls = acyclic(graph);
    let mut layer = vec![0; count];
    // Longest path from a caller nobody calls; without cycles this settles within `count` rounds.
    for _ in 0..count {
        for call in &calls {
            layer[call.to] = layer[call.to].max(layer[call.from] + 1);
        }
    }
    // The core, which every domain calls, stands at the bottom.
    let lowest = layer.iter().copied().max().unwrap_or(0);
    for (index, domain) in graph.domains.iter().enumerate() {
        let connected = calls
            .iter()
            .any(|call| call.to == index || call.from == index);
        if domain.role != "ordinary" && !connected {
            layer[index] = lowest + 1;
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

/// The calls without those that close a cycle.
fn acyclic(graph: &Graph) -> Vec<&Call> {
    let mut kept: Vec<&Call> = Vec::new();
    for call in &graph.calls {
        if !reaches(&kept, call.to, call.from) {
            kept.push(call);
        }
    }
    kept
}

fn reaches(calls: &[&Call], from: usize, to: usize) -> bool {
    let mut seen = vec![from];
    let mut next = 0;
    while let Some(&at) = seen.get(next) {
        if at == to {
            return true;
        }
        for call in calls.iter().filter(|call| call.from == at) {
            if !seen.contains(&call.to) {
                seen.push(call.to);
            }
        }
        next += 1;
    }
    false
}

/// Moves each domain to the middle of those it is connected with.
fn order(rows: &mut [Vec<usize>], calls: &[&Call]) {
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
                .filter_map(|call| match (call.from == *index, call.to == *index) {
                    (true, _) => place.get(&call.to).copied(),
                    (_, true) => place.get(&call.from).copied(),
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
    use super::super::Domain;
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
