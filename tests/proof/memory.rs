//! What a process holds that the kernel cannot take back: anonymous and shared memory. Pages of files are left out,
//! because they can be dropped and read again.

use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy)]
pub struct Memory {
    pub kilobytes: u64,
}

impl Memory {
    pub fn of(process: u32) -> Self {
        Self { kilobytes: status_field(process, "RssAnon") + status_field(process, "RssShmem") }
    }

    /// The most resident memory since the start, or since [`Memory::reset_peak`].
    pub fn peak(process: u32) -> Self {
        Self { kilobytes: status_field(process, "VmHWM") }
    }

    /// Makes the kernel forget the high-water mark.
    pub fn reset_peak(process: u32) {
        std::fs::write(format!("/proc/{process}/clear_refs"), "5").expect("the mark can be reset");
    }

    /// Once it has stopped falling: an allocator gives memory back late.
    pub async fn settled(process: u32) -> Self {
        let patience = Instant::now() + Duration::from_secs(15);
        let mut last = Self::of(process);
        let mut calm = 0;
        while calm < 5 && Instant::now() < patience {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let now = Self::of(process);
            calm = if now.kilobytes + 256 < last.kilobytes { 0 } else { calm + 1 };
            last = now;
        }
        last
    }

    /// Kilobytes more than before.
    pub fn since(self, before: Self) -> f64 {
        self.kilobytes as f64 - before.kilobytes as f64
    }
}

/// A field of `/proc/PID/status`, in kilobytes.
fn status_field(process: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("the process is there");
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
