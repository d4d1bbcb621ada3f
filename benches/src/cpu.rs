//! How much processor time a process has used, its own and that of the children it has waited for.

use std::path::Path;

/// A tick of the kernel's clock, in microseconds.
const TICK: f64 = 10_000.0;

/// Of this process.
pub fn own() -> f64 {
    let id = std::process::id();
    fields(id).map_or(0.0, |fields| micros(&fields, 2))
}

/// Of a process and everything below it, in microseconds.
pub fn of_tree(root: u32) -> f64 {
    let processes: Vec<(u32, Vec<u64>)> = all().filter_map(|id| Some((id, fields(id)?))).collect();
    let mut members = vec![root];
    let mut sum = 0.0;
    while let Some(member) = members.pop() {
        sum += processes.iter().filter(|(id, _)| *id == member).map(|(_, fields)| micros(fields, 4)).sum::<f64>();
        let is_child = |fields: &[u64]| fields.first().is_some_and(|parent| *parent == u64::from(member));
        members.extend(processes.iter().filter(|(_, fields)| is_child(fields)).map(|(id, _)| *id));
    }
    sum
}

fn all() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The numbers behind the name and the state, which alone are no numbers: the parent comes first.
fn fields(id: u32) -> Option<Vec<u64>> {
    let stat = std::fs::read_to_string(Path::new("/proc").join(id.to_string()).join("stat")).ok()?;
    let (_, behind) = stat.rsplit_once(')')?;
    Some(behind.split_whitespace().skip(1).map(|field| field.parse().unwrap_or(0)).collect())
}

/// User and system time; with four, also of children that ended.
fn micros(fields: &[u64], count: usize) -> f64 {
    fields.iter().skip(10).take(count).map(|ticks| *ticks as f64 * TICK).sum()
}
