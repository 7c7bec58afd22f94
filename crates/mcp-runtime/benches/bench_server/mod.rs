//! What the benchmarks of this crate have in common: a server that costs next to nothing, and how figures are written.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::Path;

/// The median, and between which figures it lies.
pub(crate) fn spread(figures: impl Iterator<Item = f64>) -> String {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    let (lowest, highest) = (figures[0], figures[figures.len() - 1]);
    let median = figures[figures.len() / 2];
    format!("{median:.3} ({lowest:.3} to {highest:.3})")
}

/// The memory of this process that is in RAM, in KiB.
pub(crate) fn resident() -> Result<f64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let line = line.ok_or("this system does not tell resident memory")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// The rest of the answer to `tools/list`, behind its id.
pub(crate) fn listing_of(tools: usize) -> Result<String, std::fmt::Error> {
    let mut listing = String::from(r#","result":{"tools":["#);
    for number in 0..tools {
        let comma = if number == 0 { "" } else { "," };
        write!(
            listing,
            r#"{comma}{{"name":"tool_{number}","description":"Looks up record {number} by its name and returns what is known of it, newest entries first.","inputSchema":{{"type":"object","properties":{{"query":{{"type":"string","description":"Words to look for"}},"limit":{{"type":"integer","minimum":1,"maximum":100}},"format":{{"type":"string","enum":["text","json"]}}}},"required":["query"]}},"annotations":{{"readOnlyHint":true}}}}"#
        )?;
    }
    listing.push_str("]}}\n");
    Ok(listing)
}

/// A server that knows three methods and takes ids as they come.
pub(crate) fn serve(listing: &Path) -> io::Result<()> {
    const INITIALIZED: &str = concat!(
        r#","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"#,
        r#""serverInfo":{"name":"bench","version":"1.0.0"}}}"#,
        "\n"
    );
    const UNKNOWN: &str = concat!(
        r#","error":{"code":-32601,"message":"Method not found"}}"#,
        "\n"
    );
    let mut out = io::stdout();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let Some((_, rest)) = line.split_once(r#""id":"#) else {
            continue;
        };
        let id = rest.split([',', '}']).next().unwrap_or("null");
        let answer = if line.contains(r#""method":"initialize""#) {
            INITIALIZED.to_owned()
        } else if line.contains(r#""method":"tools/list""#) {
            fs::read_to_string(listing)?
        } else {
            UNKNOWN.to_owned()
        };
        out.write_all(format!(r#"{{"jsonrpc":"2.0","id":{id}{answer}"#).as_bytes())?;
        out.flush()?;
    }
    Ok(())
}
