//! Size classes: every 8 bytes up to 128, then four for each doubling.

/// The largest block that has a class.
pub const LARGEST: usize = 16 * 1024;
pub const CLASSES: usize = 16 + 4 * 7;

/// The class whose blocks are just large enough.
pub fn of(size: usize) -> usize {
    if size <= 128 {
        return size.div_ceil(8).saturating_sub(1);
    }
    // Which doubling, and which quarter of it.
    let doubling = (size - 1).ilog2() as usize;
    let quarter = (size - 1) >> (doubling - 2) & 3;
    16 + (doubling - 7) * 4 + quarter
}

/// The bytes that a block of the class holds.
pub fn size(class: usize) -> usize {
    if class < 16 {
        return (class + 1) * 8;
    }
    let (doubling, quarter) = ((class - 16) / 4 + 7, (class - 16) % 4);
    (1 << doubling) + ((quarter + 1) << (doubling - 2))
}
