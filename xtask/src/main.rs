//! Tasks.

fn main() {}
