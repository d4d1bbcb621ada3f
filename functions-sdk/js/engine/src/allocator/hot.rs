//! Which of the prelude's blocks a plain call writes to. Measured with `services/runtime/examples/script_pages`, and to be
//! measured again when the prelude or QuickJS changes: a stale list costs speed and nothing else.

/// Room for them.
pub const BYTES: usize = 16 * 1024;

/// The numbers of the blocks in the order of their making.
pub const BLOCKS: &[u32] = &[2, 53, 254, 255, 258, 274, 315, 1170, 1333, 1648, 3136, 8205, 14064, 19529];
