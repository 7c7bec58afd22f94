//! Bytes that no server should write, and what holds for all of them (R7, R9).
//!
//! Inputs are numbered, and an input is made from its number alone. A failure names the number, and
//! `cargo xtask fuzz --seed <number> --inputs 1` tries that one again.

mod campaign;
mod corpus;
mod effort;
mod events;
mod inbound;
mod input;
mod lines;
mod mutation;
mod round_trip;

use campaign::Campaign;
use input::Input;

/// Ten million of them with `cargo xtask fuzz`, a few in each run of the tests.
#[test]
fn no_bytes_harm_a_connection() {
    Campaign::of_this_run().run(|number| {
        let input = Input::of(number);
        lines::check(&input);
        events::check(&input);
    });
}
