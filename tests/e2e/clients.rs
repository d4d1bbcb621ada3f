//! The official clients against the real server: each finds the agent by its card and takes every step that it can.
//!
//! The clients in Python, JavaScript and Rust are installed by `tests/clients/install.sh`, which needs the network; these
//! tests are therefore marked as ignored, and `.ci/run` runs them in a step of its own:
//! `PLEAT_CLIENTS=… cargo test -p pleat --test e2e clients::official -- --ignored`. The scripts and the program beside it print
//! one line of JSON for each step; what the lines must say is here, once for all of them.

mod official;
mod receiver;
mod steps;
