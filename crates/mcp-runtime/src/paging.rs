//! A whole listing, page by page, against servers that do not end (R8).

use std::collections::HashSet;

use mcp_sandbox_meta::RawMeta;
use serde::Serialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

use crate::connection::{Connection, RequestError, RequestErrorKind};
use crate::deadline::Deadline;
use crate::event::{EventSink, RuntimeEvent};
use crate::object::Object;

/// What a method lists, and how its entries are read.
pub(crate) trait Entries {
    /// What an entry becomes.
    type Item;
    const METHOD: &'static str;
    /// What a server that knows the method declares.
    const CAPABILITY: &'static str;
    /// The member of a page that holds its entries.
    const MEMBER: &'static str;
    /// What several of them are called.
    const NOUN: &'static str;

    /// Reads one entry, or says why it is left out.
    fn read(&mut self, entry: &RawValue) -> Result<Self::Item, String>;
}

/// What a server listed.
#[derive(Debug)]
pub struct Listed<T> {
    items: Vec<T>,
    next: Option<Box<RawValue>>,
    cut_short: bool,
}

impl<T> Default for Listed<T> {
    /// Nothing, and no more of it.
    fn default() -> Self {
        Self {
            items: Vec::new(),
            next: None,
            cut_short: false,
        }
    }
}

impl<T> Listed<T> {
    /// What was listed, in the server's order.
    #[must_use]
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// What was listed, owned.
    #[must_use]
    pub fn into_items(self) -> Vec<T> {
        self.items
    }

    /// The cursor of the page after the one that was asked for, as the server wrote it; `None` when there is no more, or
    /// when all pages were asked for. It means something to this server only.
    #[must_use]
    pub fn next_cursor(&self) -> Option<&RawValue> {
        self.next.as_deref()
    }

    /// Whether there would have been more, but for the bounds of a listing: 1,000 pages, 10,000 items, 64 MiB, or a
    /// server that repeats its cursors (R8).
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.cut_short
    }
}

/// Lists everything a connection offers; or, given a cursor, the one page it stands for. All pages are one request to
/// those who watch.
pub(crate) async fn list<E: Entries>(
    entries: E,
    connection: &Connection,
    cursor: Option<&RawValue>,
    deadline: &Deadline,
    events: &EventSink,
) -> Result<Listed<E::Item>, RequestError> {
    let listing = pages(entries, connection, cursor, deadline, events);
    connection.recorded(E::METHOD, listing).await
}

async fn pages<E: Entries>(
    entries: E,
    connection: &Connection,
    cursor: Option<&RawValue>,
    deadline: &Deadline,
    events: &EventSink,
) -> Result<Listed<E::Item>, RequestError> {
    let mut pages = Pages::new(entries, Limits::DEFAULT);
    pages
        .cursors
        .extend(cursor.map(|seen| seen.get().to_owned()));
    let mut at = cursor.map(ToOwned::to_owned);
    let next = loop {
        let params = |meta| PageRequest {
            cursor: at.as_deref(),
            meta,
        };
        let page = connection
            .request(E::METHOD, RawMeta::new(), params, None, deadline)
            .await?;
        let next = pages
            .page(&page)
            .map_err(|error| RequestError::new(E::METHOD, RequestErrorKind::Unexpected(error)))?;
        if next.is_none() || cursor.is_some() {
            break next;
        }
        at = next;
    };
    for message in pages.remarks.iter().chain(&pages.unsaid()) {
        tracing::warn!(server = %connection.key(), message, "listing");
        events.state(RuntimeEvent::Listing {
            server: connection.key().clone(),
            message: message.clone(),
        });
    }
    Ok(Listed {
        items: pages.items,
        next,
        cut_short: pages.cut_short,
    })
}

#[derive(Serialize)]
struct PageRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a RawValue>,
    #[serde(rename = "_meta", skip_serializing_if = "RawMeta::is_empty")]
    meta: RawMeta,
}

/// How long a listing may be.
#[derive(Debug, Clone, Copy)]
struct Limits {
    pages: usize,
    items: usize,
    /// Bytes of all entries and cursors.
    bytes: usize,
}

impl Limits {
    const DEFAULT: Self = Self {
        pages: 1_000,
        items: 10_000,
        bytes: 64 * 1024 * 1024,
    };
}

/// Remarks on one listing; a server can get any number of entries wrong.
const MAX_REMARKS: usize = 16;

/// What has been collected, and what has been seen.
#[derive(Debug)]
struct Pages<E: Entries> {
    entries: E,
    limits: Limits,
    items: Vec<E::Item>,
    cursors: HashSet<String>,
    pages: usize,
    bytes: usize,
    /// What is wrong, at most [`MAX_REMARKS`].
    remarks: Vec<String>,
    more_remarks: usize,
    cut_short: bool,
}

impl<E: Entries> Pages<E> {
    fn new(entries: E, limits: Limits) -> Self {
        Self {
            entries,
            limits,
            items: Vec::new(),
            cursors: HashSet::new(),
            pages: 0,
            bytes: 0,
            remarks: Vec::new(),
            more_remarks: 0,
            cut_short: false,
        }
    }

    /// Takes one page in; the cursor of the next one, unless this was the last.
    fn page(&mut self, page: &RawValue) -> serde_json::Result<Option<Box<RawValue>>> {
        let page = Object::read(page)?;
        let entries = page.get_or_null(E::MEMBER);
        let entries = entries.ok_or_else(|| serde_json::Error::missing_field(E::MEMBER))?;
        // `null` is how some languages write a list without entries.
        let entries = serde_json::from_str::<Option<Vec<&RawValue>>>(entries.get())?;
        self.pages += 1;
        let Limits { items, bytes, .. } = self.limits;
        for entry in entries.unwrap_or_default() {
            if self.items.len() == items || self.bytes + entry.get().len() > bytes {
                self.cut(&format!(
                    "it is longer than {items} {} or {bytes} bytes",
                    E::NOUN
                ));
                return Ok(None);
            }
            // One bad entry costs that entry.
            match self.entries.read(entry) {
                Ok(item) => {
                    self.bytes += entry.get().len();
                    self.items.push(item);
                }
                Err(remark) => self.remark(remark),
            }
        }
        Ok(self.next(page.get("nextCursor")))
    }

    fn next(&mut self, next: Option<&RawValue>) -> Option<Box<RawValue>> {
        // An empty cursor ends a listing, as servers that know no better mean it.
        let next = next.filter(|next| next.get() != "\"\"")?;
        let Limits { pages, bytes, .. } = self.limits;
        self.bytes += next.get().len();
        if self.bytes > bytes {
            self.cut(&format!(
                "its cursors and {} are longer than {bytes} bytes",
                E::NOUN
            ));
            return None;
        }
        if !self.cursors.insert(next.get().to_owned()) {
            self.cut("the server repeats a cursor");
            return None;
        }
        if self.pages == pages {
            self.cut(&format!("it has more than {pages} pages"));
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
            "the listing is cut short after {} {}: {why}",
            self.items.len(),
            E::NOUN
        ));
    }
}

#[cfg(test)]
mod tests;
