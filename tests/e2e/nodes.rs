//! Three `pleat serve` processes on one Postgres: any of them serves anything, and none is missed for long.

mod bearers;
mod changes;
mod drain;
mod fencing;
mod lost;
mod push;
mod repeated;
mod sharing;
