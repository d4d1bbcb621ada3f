//! What the kernel knows of the one instance's memory.

use std::fs::File;
use std::io::{Error, Result};
use std::os::unix::fs::FileExt;

const PAGE: usize = 4096;
/// The stack lies below the image that an instance starts from.
const BELOW: usize = 2 << 20;
const ABOVE: usize = 96 << 20;

/// The pages that were written, counted from where the image begins.
pub(crate) fn written() -> Result<Vec<isize>> {
    let from = image()? - BELOW;
    let mut entries = vec![0; (BELOW + ABOVE) / PAGE * 8];
    File::open("/proc/self/pagemap")?.read_exact_at(&mut entries, (from / PAGE * 8) as u64)?;
    let (entries, _) = entries.as_chunks::<8>();
    let is_written = |entry: &[u8; 8]| {
        let bits = u64::from_le_bytes(*entry);
        // There, and no longer the file's.
        bits >> 63 & 1 == 1 && bits >> 61 & 1 == 0
    };
    let pages = (0..).zip(entries).filter(|(_, entry)| is_written(entry));
    Ok(pages.map(|(page, _): (isize, _)| page - (BELOW / PAGE) as isize).collect())
}

pub(crate) fn regions(pages: &[isize]) -> usize {
    let apart = pages.iter().zip(pages.iter().skip(1)).filter(|(one, next)| **one + 1 != **next);
    apart.count() + usize::from(!pages.is_empty())
}

/// The numbers of the blocks that have a page each, from the headers they begin with.
pub(crate) fn spread_blocks(pages: &[isize]) -> Result<Vec<u32>> {
    const CLASSES: u32 = 44;
    const MOST: u32 = 1_000_000;
    let (memory, image) = (File::open("/proc/self/mem")?, image()?);
    let mut blocks = Vec::new();
    for page in pages.iter().filter(|page| **page >= 0) {
        let mut header = [0; 8];
        memory.read_exact_at(&mut header, (image + page.unsigned_abs() * PAGE) as u64)?;
        let [class, number] = [0, 4].map(|at| {
            u32::from_le_bytes(header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).unwrap_or_default())
        });
        if class < CLASSES && (1..MOST).contains(&number) {
            blocks.push(number);
        }
    }
    blocks.sort_unstable();
    Ok(blocks)
}

/// Where the image of the instance's memory is mapped.
fn image() -> Result<usize> {
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let line = maps.lines().find(|line| line.contains("wasm-memory-image") && line.contains(" rw-p "));
    let start = line.and_then(|line| usize::from_str_radix(line.split('-').next()?, 16).ok());
    start.ok_or_else(|| Error::other("there is no image of a memory: is copy-on-write off?"))
}
