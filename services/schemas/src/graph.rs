//! Schemas that lead to others about the same value: never back to themselves, and not too far.

use crate::positions::Positions;
use crate::schema::Refused;

/// The most schemas about one value, each inside or referred to by the one before.
const LONGEST: usize = 128;

#[derive(Clone, Copy)]
enum Height {
    Unknown,
    /// It is on the way to itself.
    Open,
    Known(usize),
}

/// Refuses a schema that reaches itself without going into a property or an item, and chains that are too long.
pub(crate) fn check(positions: &Positions) -> Result<(), Refused> {
    let mut heights = vec![Height::Unknown; positions.all.len()];
    (0..positions.all.len()).try_for_each(|index| height(positions, index, 1, &mut heights).map(drop))
}

fn height(positions: &Positions, index: usize, depth: usize, heights: &mut [Height]) -> Result<usize, Refused> {
    let Some(position) = positions.all.get(index) else { return Ok(0) };
    let far =
        || Refused::at(&position.pointer, format!("more than {LONGEST} schemas lead to each other for one value"));
    match heights.get(index).copied() {
        Some(Height::Known(known)) if depth + known > LONGEST => return Err(far()),
        Some(Height::Known(known)) => return Ok(known),
        Some(Height::Open) => {
            let text = "the schema leads to itself without going into a property or an item";
            return Err(Refused::at(&position.pointer, text.to_owned()));
        }
        _ if depth > LONGEST => return Err(far()),
        _ => {}
    }
    set(heights, index, Height::Open);
    let mut highest = 0;
    for next in position.in_place.iter().copied().chain(positions.targets(position)) {
        highest = highest.max(height(positions, next, depth + 1, heights)?);
    }
    set(heights, index, Height::Known(highest + 1));
    Ok(highest + 1)
}

fn set(heights: &mut [Height], index: usize, to: Height) {
    if let Some(height) = heights.get_mut(index) {
        *height = to;
    }
}
