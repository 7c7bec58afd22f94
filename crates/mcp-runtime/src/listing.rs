//! A whole listing, page by page, against servers that do not end (R8).

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use mcp_keys::ToolName;
use mcp_sandbox_meta::RawMeta;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::connection::{Connection, Disconnect, RequestError, RequestErrorKind};
use crate::deadline::{Deadline, Elapsed};
use crate::event::{EventSink, RuntimeEvent};
use crate::tool::Tool;

const METHOD: &str = "tools/list";
/// Pages of one listing.
const MAX_PAGES: usize = 1_000;
/// Items of one listing.
const MAX_ITEMS: usize = 10_000;
/// Remarks on one listing; a server can get any number of entries wrong.
const MAX_REMARKS: usize = 16;
/// Bytes of all definitions and cursors of one listing.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Lists all tools of a connection.
pub(crate) async fn tools(
    connection: &Connection,
    deadline: &Deadline,
    events: &EventSink,
) -> Result<Listed, RequestError> {
    let mut listing = Listing::default();
    let mut cursor = None;
    loop {
        let params = |meta| PageRequest {
            cursor: cursor.as_deref(),
            meta,
        };
        let page = connection
            .request(METHOD, RawMeta::new(), params, None, deadline)
            .await?;
        cursor = listing
            .page(&page)
            .map_err(|error| RequestError::new(METHOD, RequestErrorKind::Unexpected(error)))?;
        if cursor.is_none() {
            break;
        }
    }
    listing.leave_out(|definition| connection.refusal_of(definition));
    for message in listing.remarks.iter().chain(&listing.unsaid()) {
        tracing::warn!(server = %connection.key(), message, "listing");
        events.state(RuntimeEvent::Listing {
            server: connection.key().clone(),
            message: message.clone(),
        });
    }
    Ok(Listed {
        tools: listing.tools,
        cut_short: listing.cut_short,
    })
}

/// What a server listed.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) tools: Vec<Tool>,
    /// There would have been more (R8); never shared (C6).
    pub(crate) cut_short: bool,
}

/// A listing whose connection ended.
pub(crate) fn closed(why: Arc<Disconnect>) -> RequestError {
    RequestError::new(METHOD, RequestErrorKind::Closed(why))
}

/// A listing that did not end in time.
pub(crate) fn timed_out(elapsed: Elapsed) -> RequestError {
    RequestError::new(METHOD, elapsed)
}

#[derive(Serialize)]
struct PageRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a RawValue>,
    #[serde(rename = "_meta", skip_serializing_if = "RawMeta::is_empty")]
    meta: RawMeta,
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(borrow, default, rename = "nextCursor")]
    next: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// What has been collected, and what has been seen.
#[derive(Debug, Default)]
struct Listing {
    tools: Vec<Tool>,
    names: HashSet<ToolName>,
    cursors: HashSet<String>,
    pages: usize,
    bytes: usize,
    /// What is wrong, at most [`MAX_REMARKS`].
    remarks: Vec<String>,
    more_remarks: usize,
    cut_short: bool,
}

impl Listing {
    /// Takes one page in; the cursor of the next one, unless this was the last.
    fn page(&mut self, page: &RawValue) -> serde_json::Result<Option<Box<RawValue>>> {
        let page: Page<'_> = serde_json::from_str(page.get())?;
        self.pages += 1;
        for definition in page.tools {
            if self.tools.len() == MAX_ITEMS || self.bytes + definition.get().len() > MAX_BYTES {
                self.cut(&format!(
                    "it is longer than {MAX_ITEMS} tools or {MAX_BYTES} bytes"
                ));
                return Ok(None);
            }
            self.tool(definition);
        }
        Ok(self.next(page.next))
    }

    /// One bad tool costs that tool.
    fn tool(&mut self, definition: &RawValue) {
        let name = match serde_json::from_str::<Named>(definition.get()) {
            // serde would read an array as the struct, member by member.
            Ok(Named { name }) if definition.get().starts_with('{') => {
                ToolName::new(name).map_err(|error| error.to_string())
            }
            _ => Err("it is no object with a name".to_owned()),
        };
        match name {
            Err(why) => self.remark(format!("a tool is left out: {why}")),
            Ok(name) if !self.names.insert(name.clone()) => {
                self.remark(format!(
                    "tool `{name}` is listed more than once; the first stays"
                ));
            }
            Ok(name) => {
                self.bytes += definition.get().len();
                self.tools.push(Tool::new(name, definition.to_owned()));
            }
        }
    }

    /// Leaves out what must not be called, with the reason.
    fn leave_out<E: fmt::Display>(&mut self, refusal: impl Fn(&RawValue) -> Option<E>) {
        let mut refused = Vec::new();
        self.tools.retain(|tool| {
            let refusal = refusal(tool.definition());
            let keep = refusal.is_none();
            refused.extend(refusal.map(|why| format!("tool `{}` is left out: {why}", tool.name())));
            keep
        });
        for remark in refused {
            self.remark(remark);
        }
    }

    fn next(&mut self, next: Option<&RawValue>) -> Option<Box<RawValue>> {
        // An empty cursor ends a listing, as servers that know no better mean it.
        let next = next.filter(|next| next.get() != "\"\"")?;
        self.bytes += next.get().len();
        if self.bytes > MAX_BYTES {
            self.cut(&format!(
                "its cursors and tools are longer than {MAX_BYTES} bytes"
            ));
            return None;
        }
        if !self.cursors.insert(next.get().to_owned()) {
            self.cut("the server repeats a cursor");
            return None;
        }
        if self.pages == MAX_PAGES {
            self.cut(&format!("it has more than {MAX_PAGES} pages"));
            return None;
        }
        Some(next.to_owned())
    }

    fn remark(&mut self, remark: String) {
        if self.remarks.len() < MAX_REMARKS {
            self.remarks.push(remark);
        } else {
            self.more_remarks += 1;
        }
    }

    /// How much more is wrong than was remarked.
    fn unsaid(&self) -> Option<String> {
        (self.more_remarks > 0).then(|| {
            format!(
                "{} more entries of the listing are wrong",
                self.more_remarks
            )
        })
    }

    fn cut(&mut self, why: &str) {
        self.cut_short = true;
        self.remark(format!(
            "the listing is cut short after {} tools: {why}",
            self.tools.len()
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds pages until the listing ends; what came out, and how many pages were asked for.
    #[track_caller]
    fn check(pages: &[&str], names: &[&str], remark: Option<&str>) {
        let mut listing = Listing::default();
        for (index, page) in pages.iter().enumerate() {
            let page = RawValue::from_string((*page).to_owned()).unwrap();
            let more = listing.page(&page).unwrap().is_some();
            assert_eq!(more, index + 1 < pages.len(), "page {index}");
        }
        let listed: Vec<_> = listing
            .tools
            .iter()
            .map(|tool| tool.name().as_str())
            .collect();
        assert_eq!(listed, names);
        let remarks = listing.remarks.join("; ");
        assert!(
            remark.map_or(remarks.is_empty(), |remark| remarks.contains(remark)),
            "{remarks}"
        );
    }

    /// R8
    #[test]
    fn all_pages_are_read() {
        check(
            &[
                r#"{"tools":[{"name":"a"}],"nextCursor":"c/+=1"}"#,
                r#"{"tools":[{"name":"b"}],"nextCursor":null}"#,
            ],
            &["a", "b"],
            None,
        );
        check(
            &[r#"{"tools":[{"name":"a"}],"nextCursor":""}"#],
            &["a"],
            None,
        );
        check(
            &[r#"{"tools":[],"nextCursor":7}"#, r#"{"tools":[]}"#],
            &[],
            None,
        );
    }

    /// R8
    #[test]
    fn a_repeated_cursor_ends_the_listing_with_what_there_is() {
        let page = r#"{"tools":[{"name":"a"}],"nextCursor":"x"}"#;
        check(&[page, page], &["a"], Some("repeats a cursor"));
    }

    /// R8
    #[test]
    fn a_malformed_tool_costs_that_tool_and_a_repeated_one_the_repetition() {
        check(
            &[
                r#"{"tools":["x",["n"],{"name":7},{},{"name":" a"},{"name":"a","n":1},{"name":"a","n":2},{"name":"b"}]}"#,
            ],
            &["a", "b"],
            Some("listed more than once"),
        );
    }

    /// R8
    #[test]
    fn an_endless_listing_is_cut_short() {
        let mut listing = Listing::default();
        let mut pages = 0;
        loop {
            let page = format!(r#"{{"tools":[{{"name":"t{pages}"}}],"nextCursor":{pages}}}"#);
            pages += 1;
            if listing
                .page(&RawValue::from_string(page).unwrap())
                .unwrap()
                .is_none()
            {
                break;
            }
        }
        assert_eq!(
            (pages, listing.tools.len(), listing.cut_short),
            (MAX_PAGES, MAX_PAGES, true)
        );

        let page = format!(
            r#"{{"tools":[{}]}}"#,
            (0..MAX_ITEMS + 1)
                .map(|n| format!(r#"{{"name":"t{n}"}}"#))
                .collect::<Vec<_>>()
                .join(",")
        );
        let mut listing = Listing::default();
        listing.page(&RawValue::from_string(page).unwrap()).unwrap();
        assert_eq!((listing.tools.len(), listing.cut_short), (MAX_ITEMS, true));
    }

    #[test]
    fn a_page_without_tools_is_an_error() {
        let page = RawValue::from_string("{}".to_owned()).unwrap();
        assert!(Listing::default().page(&page).is_err());
    }
}
