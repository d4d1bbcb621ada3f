//! Where things lie in memory. A call pays for every page that it writes, so what calls write must lie together:
//!
//! - what a plain call writes of the prelude's objects (reference counts, mostly) is put side by side when it is made:
//!   the prelude is the same every time, so that its n-th allocation is always the same thing, and `hot` lists those
//!   that matter;
//! - what the author's file makes comes after that, in a region of its own;
//! - what a call makes goes to a fresh region. Memory from before the snapshot that a call gives back is left alone.
//!
//! Small blocks are of a size class and go back to its list; large ones are the C library's.

mod class;
mod hot;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::null_mut;

use rquickjs::allocator::Allocator;

use class::{CLASSES, LARGEST};

const PAGE: usize = 4096;
/// Taken from the C library at once, while a file is loaded: what is left of a piece goes into the snapshot.
const LOADING: usize = 64 * 1024;
/// The same in a call, where more is cheaper than often.
const CALLING: usize = 256 * 1024;
/// In front of each block: its size, or the number of its class.
const HEADER: usize = 8;
/// The number of a block that is not the prelude's.
const UNCOUNTED: u32 = u32::MAX;
/// Marks the size of a large block.
const LARGE: u32 = 1 << 31;
/// Built with this set, every block has a page of its own: the pages that a call writes then say which blocks are hot.
pub const SPREAD: bool = option_env!("PLEAT_SPREAD").is_some();

#[global_allocator]
static ARENA: Arena = Arena(UnsafeCell::new(State {
    free: [null_mut(); CLASSES],
    bump: Region::EMPTY,
    hot: Region::EMPTY,
    piece: LOADING,
    made: UNCOUNTED,
    floor: 0,
}));

struct Arena(UnsafeCell<State>);

// SAFETY: an instance has one thread.
unsafe impl Sync for Arena {}

struct State {
    free: [*mut u8; CLASSES],
    bump: Region,
    hot: Region,
    piece: usize,
    /// Blocks that the prelude has made so far.
    made: u32,
    /// Small blocks below this address are not used again.
    floor: usize,
}

/// What is left of a piece of memory.
struct Region {
    next: *mut u8,
    left: usize,
}

impl Region {
    const EMPTY: Self = Self { next: null_mut(), left: 0 };

    fn take(&mut self, size: usize) -> *mut u8 {
        if size > self.left {
            return null_mut();
        }
        let block = self.next;
        self.next = block.wrapping_add(size);
        self.left -= size;
        block
    }

    fn refill(&mut self, size: usize) -> bool {
        let Ok(layout) = Layout::from_size_align(size, PAGE) else { return false };
        // SAFETY: the size is not zero.
        let memory = unsafe { System.alloc(layout) };
        if memory.is_null() {
            return false;
        }
        *self = Self { next: memory, left: size };
        true
    }
}

/// The prelude begins here: its blocks are counted.
pub fn begin_prelude() {
    // SAFETY: nothing else of the arena runs meanwhile.
    unsafe { &mut *ARENA.0.get() }.made = 0;
}

/// What the author's file makes begins here.
pub fn begin_file() {
    begin(LOADING);
}

/// What calls make begins here.
pub fn begin_calls() {
    begin(CALLING);
}

/// From here on everything lies in fresh pages, and what was there before is not used again.
fn begin(piece: usize) {
    // SAFETY: nothing else of the arena runs meanwhile.
    let state = unsafe { &mut *ARENA.0.get() };
    state.free = [null_mut(); CLASSES];
    state.made = UNCOUNTED;
    state.piece = piece;
    if state.bump.refill(piece) {
        state.floor = state.bump.next.addr();
    }
}

impl State {
    fn small(&mut self, class: usize) -> *mut u8 {
        let size = HEADER + class::size(class);
        let index = self.made;
        self.made = index.saturating_add(1);
        let free = self.free.get(class).copied().unwrap_or(null_mut());
        let block = match () {
            () if SPREAD => self.bump_block(size.next_multiple_of(PAGE)),
            () if index != UNCOUNTED && hot::BLOCKS.binary_search(&index).is_ok() => self.hot_block(size),
            () if !free.is_null() => {
                // SAFETY: a free block begins with the address of the next one.
                let next = unsafe { free.cast::<*mut u8>().read() };
                if let Some(first) = self.free.get_mut(class) {
                    *first = next;
                }
                return free;
            }
            () => self.bump_block(size),
        };
        if block.is_null() {
            return block;
        }
        let header = [u32::try_from(class).unwrap_or(0), index];
        // SAFETY: the block has room for the header and is aligned for it.
        unsafe { block.cast::<[u32; 2]>().write(header) };
        block.wrapping_add(HEADER)
    }

    fn bump_block(&mut self, size: usize) -> *mut u8 {
        let block = self.bump.take(size);
        if !block.is_null() || !self.bump.refill(self.piece) {
            return block;
        }
        self.bump.take(size)
    }

    fn hot_block(&mut self, size: usize) -> *mut u8 {
        if self.hot.left == 0 && !self.hot.refill(hot::BYTES) {
            return null_mut();
        }
        let block = self.hot.take(size);
        if block.is_null() { self.bump_block(size) } else { block }
    }
}

fn allocate(size: usize) -> *mut u8 {
    if size > LARGEST {
        return large(size);
    }
    // SAFETY: nothing else of the arena runs meanwhile.
    unsafe { &mut *ARENA.0.get() }.small(class::of(size))
}

fn large(size: usize) -> *mut u8 {
    let Some(layout) = large_layout(size) else { return null_mut() };
    // SAFETY: the size is not zero.
    let block = unsafe { System.alloc(layout) };
    if block.is_null() {
        return block;
    }
    mark(block, size)
}

fn mark(block: *mut u8, size: usize) -> *mut u8 {
    let header = [u32::try_from(size).unwrap_or(0) | LARGE, UNCOUNTED];
    // SAFETY: a large block has room for the header.
    unsafe { block.cast::<[u32; 2]>().write(header) };
    block.wrapping_add(HEADER)
}

fn large_layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(HEADER)?, HEADER).ok()
}

/// # Safety
/// `block` came from `allocate`.
unsafe fn header(block: *mut u8) -> u32 {
    // SAFETY: each block has its header in front of it.
    unsafe { block.wrapping_sub(HEADER).cast::<u32>().read() }
}

/// # Safety
/// `block` came from `allocate`.
unsafe fn usable(block: *mut u8) -> usize {
    // SAFETY: as the caller promises.
    match unsafe { header(block) } {
        size if size & LARGE != 0 => (size & !LARGE) as usize,
        class => class::size(class as usize),
    }
}

/// # Safety
/// `block` came from `allocate` and is not used any more.
unsafe fn release(block: *mut u8) {
    // SAFETY: as the caller promises.
    let header = unsafe { header(block) };
    if header & LARGE != 0 {
        if let Some(layout) = large_layout((header & !LARGE) as usize) {
            // SAFETY: `large` made it with this layout.
            unsafe { System.dealloc(block.wrapping_sub(HEADER), layout) };
        }
        return;
    }
    // SAFETY: nothing else of the arena runs meanwhile.
    let state = unsafe { &mut *ARENA.0.get() };
    if block.addr() < state.floor {
        return;
    }
    if let Some(first) = state.free.get_mut(header as usize) {
        // SAFETY: the smallest class has room for an address.
        unsafe { block.cast::<*mut u8>().write(*first) };
        *first = block;
    }
}

/// # Safety
/// `block` came from `allocate`.
unsafe fn resize(block: *mut u8, size: usize) -> *mut u8 {
    // SAFETY: as the caller promises, here and below.
    let there = unsafe { usable(block) };
    let is_large = unsafe { header(block) } & LARGE != 0;
    if is_large && size > LARGEST {
        let Some(layout) = large_layout(there) else { return null_mut() };
        let moved = unsafe { System.realloc(block.wrapping_sub(HEADER), layout, size.saturating_add(HEADER)) };
        return if moved.is_null() { moved } else { mark(moved, size) };
    }
    if !is_large && size <= there {
        return block;
    }
    let moved = allocate(size);
    if !moved.is_null() {
        unsafe { block.copy_to_nonoverlapping(moved, there.min(size)) };
        unsafe { release(block) };
    }
    moved
}

// SAFETY: blocks are as large as asked, aligned to 8 (or made by the C library), and apart from each other.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() > HEADER {
            // SAFETY: the caller's promise.
            return unsafe { System.alloc(layout) };
        }
        allocate(layout.size())
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise; the same question as in `alloc`.
        match layout.align() > HEADER {
            true => unsafe { System.dealloc(block, layout) },
            false => unsafe { release(block) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise; the same question as in `alloc`.
        match layout.align() > HEADER {
            true => unsafe { System.realloc(block, layout, size) },
            false => unsafe { resize(block, size) },
        }
    }
}

/// The same for QuickJS.
pub struct Script;

// SAFETY: as above; `usable` is what the header says.
unsafe impl Allocator for Script {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        allocate(size)
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(total) = count.checked_mul(size) else { return null_mut() };
        let block = allocate(total);
        if !block.is_null() {
            // SAFETY: the block has that many bytes.
            unsafe { block.write_bytes(0, total) };
        }
        block
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { release(block) };
    }

    unsafe fn realloc(&mut self, block: *mut u8, size: usize) -> *mut u8 {
        if block.is_null() {
            return allocate(size);
        }
        // SAFETY: the caller's promise.
        unsafe { resize(block, size) }
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        // SAFETY: the caller's promise.
        unsafe { usable(block) }
    }
}
