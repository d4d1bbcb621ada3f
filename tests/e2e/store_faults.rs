//! The database dies, or a node does: what was answered is kept, and service comes back by itself.

mod database_killed;
mod disk_full;
mod node_lost;
mod steps;
