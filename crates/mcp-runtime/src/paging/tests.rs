//! Listings that end, and listings that would not.

use proptest::prelude::*;

use super::*;
use crate::listing::Tools;
use crate::tool::Tool;

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

fn tools() -> Pages<impl Entries<Item = Tool>> {
    Pages::new(Tools::new(|_tool| None), Limits::DEFAULT)
}

/// Feeds pages until the listing ends; what came out, and how many pages were asked for.
#[track_caller]
fn check(pages: &[&str], names: &[&str], remark: Option<&str>) {
    let mut listing = tools();
    for (index, page) in pages.iter().enumerate() {
        let more = listing.page(&raw(page)).unwrap().is_some();
        assert_eq!(more, index + 1 < pages.len(), "page {index}");
    }
    let listed: Vec<_> = listing
        .items
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
fn a_list_without_entries_may_be_null() {
    check(&[r#"{"tools":null,"nextCursor":null}"#], &[], None);
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

#[test]
fn a_tool_that_must_not_be_called_is_left_out() {
    let refusal = |tool: &RawValue| tool.get().contains('!').then(|| "no way".to_owned());
    let mut listing = Pages::new(Tools::new(refusal), Limits::DEFAULT);
    let page = r#"{"tools":[{"name":"a","x":"!"},{"name":"b"},{"name":"a"}]}"#;
    listing.page(&raw(page)).unwrap();
    assert_eq!(
        (listing.items.len(), listing.items[0].name().as_str()),
        (1, "b")
    );
    let remarks = [
        "tool `a` is left out: no way",
        "tool `a` is listed more than once; the first stays",
    ];
    assert_eq!(listing.remarks, remarks, "what is left out is not replaced");
}

/// R8
#[test]
fn an_endless_listing_is_cut_short() {
    let Limits { pages, items, .. } = Limits::DEFAULT;
    let mut listing = tools();
    let mut asked = 0;
    loop {
        let page = format!(r#"{{"tools":[{{"name":"t{asked}"}}],"nextCursor":{asked}}}"#);
        asked += 1;
        if listing.page(&raw(&page)).unwrap().is_none() {
            break;
        }
    }
    assert_eq!(
        (asked, listing.items.len(), listing.cut_short),
        (pages, pages, true)
    );

    let entries: Vec<_> = (0..=items)
        .map(|n| format!(r#"{{"name":"t{n}"}}"#))
        .collect();
    let mut listing = tools();
    let page = format!(r#"{{"tools":[{}]}}"#, entries.join(","));
    listing.page(&raw(&page)).unwrap();
    assert_eq!((listing.items.len(), listing.cut_short), (items, true));
}

/// A page is an object with an array of what was asked for, whatever else is in it.
#[test]
fn what_is_no_page_is_an_error() {
    let rows = [
        ("{}", "missing field `tools`"),
        (r#"{"resources":[]}"#, "missing field `tools`"),
        (r#"{"tools":{}}"#, "expected a sequence"),
        (r#"[[{"name":"a"}]]"#, "expected a map"),
        ("null", "expected a map"),
    ];
    for (page, says) in rows {
        let error = tools().page(&raw(page)).unwrap_err().to_string();
        assert!(error.contains(says), "{page}: {error}");
    }
}

/// Numbers; what is none is malformed.
struct Numbers;

impl Entries for Numbers {
    type Item = u64;
    const METHOD: &'static str = "numbers/list";
    const CAPABILITY: &'static str = "numbers";
    const MEMBER: &'static str = "numbers";
    const NOUN: &'static str = "numbers";

    fn read(&mut self, entry: &RawValue) -> Result<u64, String> {
        serde_json::from_str(entry.get()).map_err(|_none| format!("{entry} is left out"))
    }
}

const SMALL: Limits = Limits {
    pages: 6,
    items: 12,
    bytes: 60,
};

/// A page: its entries, and the cursor after it.
type Page = (Vec<Option<u64>>, Option<u64>);

/// Cursors are few, so that they come again, or many; zero is an empty one.
fn server() -> impl Strategy<Value = Vec<Page>> {
    let entry = prop_oneof![4 => any::<u16>().prop_map(|n| Some(n.into())), 1 => Just(None)];
    let next = prop_oneof![
        1 => Just(None),
        2 => (0_u64..8).prop_map(Some),
        4 => (0_u64..1_000_000_000).prop_map(Some),
    ];
    prop::collection::vec((prop::collection::vec(entry, 0..5), next), 1..12)
}

fn text((entries, next): &Page) -> String {
    let entries: Vec<_> = entries
        .iter()
        .map(|entry| entry.map_or_else(|| "{}".to_owned(), |number| number.to_string()))
        .collect();
    let next = match next {
        None => "null".to_owned(),
        Some(0) => "\"\"".to_owned(),
        Some(cursor) => cursor.to_string(),
    };
    format!(
        r#"{{"numbers":[{}],"nextCursor":{next}}}"#,
        entries.join(",")
    )
}

proptest! {
    /// R8: a server that goes round and round, whatever its pages and cursors are.
    #[test]
    fn every_listing_ends_within_its_bounds(server in server()) {
        let mut pages = Pages::new(Numbers, SMALL);
        let (mut asked, mut offered) = (Vec::new(), Vec::new());
        for number in 0.. {
            prop_assert!(number < SMALL.pages, "page {number} is asked for");
            let page = &server[number % server.len()];
            offered.extend(page.0.iter().flatten().copied());
            let Some(next) = pages.page(&raw(&text(page))).unwrap() else {
                break;
            };
            prop_assert!(!asked.iter().any(|seen| seen == next.get()), "{next} is asked for again");
            prop_assert!(!matches!(next.get(), "null" | "\"\""));
            asked.push(next.get().to_owned());
        }
        prop_assert!(offered.starts_with(&pages.items), "in the server's order, none left out");
        prop_assert!(pages.items.len() <= SMALL.items);
        let cursors: usize = asked.iter().map(String::len).sum();
        let bytes: usize = pages.items.iter().map(|number| number.to_string().len()).sum();
        prop_assert!(bytes + cursors <= SMALL.bytes);
        prop_assert!(pages.cut_short || pages.items == offered, "what is missing is told");
        prop_assert!(pages.remarks.len() <= MAX_REMARKS);
    }
}
