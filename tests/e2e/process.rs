//! `pleat dev` and `pleat serve` as processes: how they start, what they leave behind, what they survive.

mod dev;
mod kills;
mod serve;
mod trust;
