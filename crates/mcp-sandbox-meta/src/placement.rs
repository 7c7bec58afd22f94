//! Which servers could use a launcher that this machine has.

/// How a host talks to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerTransport {
    /// Standard input and output of a process that the host started.
    Stdio,
    /// Streamable HTTP, to a loopback address as well.
    Http,
}

/// Where a server's process runs, as seen from the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvironmentLocality {
    /// This machine, without anything in between.
    Local,
    /// Behind an executor: a container, another machine, whatever has a file system of its own.
    Remote,
}

/// Whether a path of this machine means the same program to the server (S4).
///
/// Only then may a launcher be sent. An HTTP endpoint says nothing about whose file system is behind it, loopback
/// included; an executor says that it is another one.
#[must_use]
pub const fn launcher_is_reachable(
    transport: ServerTransport,
    locality: EnvironmentLocality,
) -> bool {
    matches!(
        (transport, locality),
        (ServerTransport::Stdio, EnvironmentLocality::Local)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S4
    #[test]
    fn a_launcher_reaches_local_stdio_servers_only() {
        for (transport, locality, expected) in [
            (ServerTransport::Stdio, EnvironmentLocality::Local, true),
            (ServerTransport::Stdio, EnvironmentLocality::Remote, false),
            (ServerTransport::Http, EnvironmentLocality::Local, false),
            (ServerTransport::Http, EnvironmentLocality::Remote, false),
        ] {
            assert_eq!(
                launcher_is_reachable(transport, locality),
                expected,
                "{transport:?}, {locality:?}"
            );
        }
    }
}
