//! Who shares with whom (C5), and who does not want to (C6).

use std::collections::BTreeSet;

use mcp_runtime::{
    CommandExecutor, Elicitation, ElicitationAnswer, Environment, ListingShare, Quoting,
    ServerConfig, ToolFilter,
};
use mcp_testkit::Script;
use tempfile::TempDir;

use super::gated::{Gated, legacy};
use super::{begin, count_shared, end, shared};
use crate::host::{Host, builder};

/// The client called `one`, with a person to ask.
const ASKS: &str = "one that asks";

/// Two startups that overlap, the first of them fetching already; how many listings that takes.
async fn check(
    first: impl FnOnce(&Gated) -> ServerConfig,
    second: impl FnOnce(&Gated) -> ServerConfig,
    client: &str,
    listings: usize,
    why: &str,
) {
    let first = |gated: &Gated| local().server(first(gated));
    let second = |gated: &Gated| local().server(second(gated));
    check_in(first, second, client, listings, why).await;
}

/// An environment on this machine, whose servers stand for the host's.
fn local() -> Environment {
    Environment::new("local".parse().expect("an id"))
}

/// As [`check`], of servers in an environment.
async fn check_in(
    first: impl FnOnce(&Gated) -> Environment,
    second: impl FnOnce(&Gated) -> Environment,
    client: &str,
    listings: usize,
    why: &str,
) {
    let gated = Gated::new(&Script::new().tool_named("search"));
    let share = ListingShare::default();
    let startup = |environment, client: &str| {
        let builder = builder().share_listings(&share).environment(environment);
        Host::begin(if client == ASKS {
            builder
                .client("one", "1.0")
                .elicitation(async |_: Elicitation| ElicitationAnswer::decline())
        } else {
            builder.client(client, "1.0")
        })
    };
    let first = startup(first(&gated), "one");
    gated.joined(1).await;
    let second = startup(second(&gated), client);
    gated.joined(2).await;
    let asked: BTreeSet<_> = gated.listing(listings).await.into_iter().collect();
    assert_eq!(asked.len(), listings, "{why}");
    gated.open();
    let hosts = [first, second];
    assert_eq!(count_shared(&hosts).await, 2 - listings, "{why}");
    assert_eq!(gated.log().count("tools/list"), listings, "{why}");
    end(&hosts).await;
}

/// C5
#[tokio::test]
async fn startups_that_differ_in_what_a_server_may_see_never_share() {
    let plain = Gated::config;
    check(plain, plain, "one", 1, "nothing differs").await;
    check(plain, plain, "other", 2, "the client's name").await;
    check(plain, plain, ASKS, 2, "what the client offers").await;
    let argument = |gated: &Gated| legacy(gated.transport_with(Some("--verbose")));
    check(plain, argument, "one", 2, "an argument").await;
    let one = |gated: &Gated| legacy(gated.transport().env("TOKEN", "1"));
    let other = |gated: &Gated| legacy(gated.transport().env("TOKEN", "2"));
    check(one, one, "one", 1, "the same value").await;
    check(one, other, "one", 2, "a variable's value").await;
    check(plain, one, "one", 2, "a variable more").await;
    let dir = TempDir::new().expect("a temporary directory");
    let elsewhere = |gated: &Gated| legacy(gated.transport().cwd(dir.path()));
    check(plain, elsewhere, "one", 2, "the working directory").await;
    check(elsewhere, elsewhere, "one", 1, "the same directory").await;
}

/// C5: not even when the very same process is launched.
#[tokio::test]
async fn startups_of_different_executors_never_share() {
    let behind = |argv: &[&str], server| {
        let executor = CommandExecutor::new(argv.iter().copied(), Quoting::None);
        local()
            .executor(executor.expect("a command"))
            .server(server)
    };
    let here = |gated: &Gated| local().server(legacy(gated.transport_behind("env")));
    let far = |gated: &Gated| behind(&["env"], gated.config());
    check_in(here, far, "one", 2, "here and behind a command").await;
    check_in(far, far, "one", 1, "behind the same command").await;
    let further = |gated: &Gated| behind(&["env", "--"], gated.config());
    check_in(far, further, "one", 2, "behind another command").await;
}

/// C5: what only the host sees is no difference.
#[tokio::test]
async fn budgets_do_not_part_startups() {
    let plain = Gated::config;
    let hurried = |gated: &Gated| {
        let limit = std::time::Duration::from_secs(20);
        gated.config().startup_timeout(limit).tool_timeout(limit)
    };
    check(plain, hurried, "one", 1, "another deadline").await;
    let required = |gated: &Gated| gated.config().required(true);
    check(plain, required, "one", 1, "required by one host").await;
}

/// C6
#[tokio::test]
async fn a_startup_that_opted_out_neither_waits_nor_serves() {
    let plain = Gated::config;
    let alone = |gated: &Gated| gated.config().share_listing(false);
    check(plain, alone, "one", 2, "it does not wait").await;
    check(alone, plain, "one", 2, "it does not serve").await;
    check(alone, alone, "one", 2, "nor do two of them").await;
}

/// C5, R8: filters apply after sharing.
#[tokio::test]
async fn two_filters_take_their_own_from_one_listing() {
    let gated = Gated::new(&Script::new().tool_named("read").tool_named("write"));
    let share = ListingShare::default();
    let startup = |filter| begin(&share, gated.config().tool_filter(filter));
    // The one that fetches for all wants the least.
    let reads = startup(ToolFilter::all().only(["read"]));
    gated.joined(1).await;
    let writes = startup(ToolFilter::all().except(["read"]));
    let hosts = [reads, writes, startup(ToolFilter::all())];
    gated.joined(3).await;
    gated.open();
    assert_eq!(count_shared(&hosts).await, 2);
    assert_eq!(gated.log().count("tools/list"), 1);
    let offered = hosts.each_ref().map(Host::tools);
    assert_eq!(
        offered,
        [vec!["read"], vec!["write"], vec!["read", "write"]]
    );
    end(&hosts).await;
}

/// C5: the same server under another name is another server.
#[tokio::test]
async fn servers_of_other_names_never_share() {
    let gated = Gated::new(&Script::new().tool_named("search"));
    let namesake = ServerConfig::new(
        "namesake".parse().unwrap(),
        gated.config().transport().clone(),
    );
    let host = Host::serve([gated.config(), namesake.era(mcp_runtime::Era::Legacy)]);
    gated.joined(2).await;
    let asked: BTreeSet<_> = gated.listing(2).await.into_iter().collect();
    assert_eq!(asked.len(), 2);
    gated.open();
    assert!(!shared(&host).await);
    assert_eq!(host.tools(), ["search", "search"]);
    host.end().await;
}
