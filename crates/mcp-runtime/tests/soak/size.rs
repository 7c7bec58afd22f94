//! How much is tried.

/// Servers, calls, and the seed of everything that is up to chance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) servers: usize,
    pub(crate) calls: usize,
    pub(crate) seed: u64,
}

impl Size {
    /// As `cargo xtask soak` asks for it in the environment; otherwise what a run of all tests has time for.
    pub(crate) fn of_this_run() -> Self {
        let asked = |name, default| match std::env::var(name) {
            Ok(number) => number.parse().expect("a whole number"),
            Err(_) => default,
        };
        let small = |number: u64| usize::try_from(number).expect("a small number");
        Self {
            servers: small(asked("MCP_SOAK_SERVERS", 100)),
            calls: small(asked("MCP_SOAK_CALLS", 8_000)),
            seed: asked("MCP_SOAK_SEED", 1),
        }
    }
}
