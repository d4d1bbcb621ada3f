//! Makes cargo notice a new migration: `sqlx::migrate!` only tracks the files it has already seen.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
