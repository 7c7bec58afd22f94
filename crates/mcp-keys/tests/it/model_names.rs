//! What holds for the name of every key: alphabet, limit, injectivity, stability (K4, K5).

use std::collections::HashMap;

use mcp_keys::{
    EnvironmentId, McpServerKey, NameProfile, ServerName, ToolKey, ToolName, ToolNameIndex,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Texts that want to collide: few pieces, most of them separators or the ends of shortened names.
fn hostile() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "a",
        "A",
        "_",
        "__",
        "-",
        " ",
        ".",
        "at",
        "_at_",
        "mcp",
        "docs",
        "Docs",
        "x",
        "xabcdefghij",
        "_xabcdefghij",
        "xyt234567ab",
        "é",
        "e\u{301}",
        "\u{301}",
        "\u{feff}",
        "\u{200b}",
        "ß",
        "工",
    ]);
    let mixed = vec(piece, 1..6).prop_map(|pieces| pieces.concat());
    // One or two bytes to each side of every cut: stems, budgets and limits.
    let near_a_cut = (
        select(vec![7_usize, 11, 22, 23, 27, 34, 54, 66, 86, 119]),
        0..5_usize,
    )
        .prop_map(|(cut, off)| (cut + off).saturating_sub(2).max(1));
    let long = (
        near_a_cut,
        select(vec!["a", "_", "é"]),
        select(vec!["", "_", "x", "_x"]),
    )
        .prop_map(|(bytes, filler, end)| format!("{}{end}", filler.repeat(bytes / filler.len())));
    prop_oneof![mixed, long].prop_filter_map("a valid name", |text| {
        let text = text.trim();
        ServerName::new(text).is_ok().then(|| text.to_owned())
    })
}

/// Keys from a small pool of texts, so that one text turns up as environment, as server and as tool.
fn keys() -> impl Strategy<Value = Vec<ToolKey>> {
    let picks = vec(
        (any::<Option<Index>>(), any::<Index>(), any::<Index>()),
        1..40,
    );
    (vec(hostile(), 1..6), picks).prop_map(|(pool, picks)| {
        let text = |index: &Index| index.get(&pool).as_str();
        let key = |(id, server, tool): &(Option<Index>, Index, Index)| {
            let id = id.as_ref().map(text);
            tool_key(id, text(server), text(tool))
        };
        picks.iter().map(key).collect()
    })
}

#[track_caller]
fn tool_key(environment: Option<&str>, server: &str, tool: &str) -> ToolKey {
    let name: ServerName = server.parse().unwrap();
    let server = match environment {
        Some(id) => McpServerKey::in_environment(id.parse::<EnvironmentId>().unwrap(), name),
        None => McpServerKey::host(name),
    };
    ToolKey::new(server, tool.parse::<ToolName>().unwrap())
}

fn profiles() -> [NameProfile; 4] {
    let longest = "p".repeat(NameProfile::MAX_PREFIX_BYTES);
    [
        NameProfile::LIMIT_64,
        NameProfile::LIMIT_128,
        NameProfile::LIMIT_64.with_prefix("m").unwrap(),
        NameProfile::LIMIT_64.with_prefix(longest).unwrap(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// K4
    #[test]
    fn two_keys_never_share_a_name(keys in keys()) {
        for profile in profiles() {
            let mut by_flat = HashMap::new();
            let mut by_parts = HashMap::new();
            for key in &keys {
                let name = profile.name(key);
                let parts = (name.namespace().to_owned(), name.name().to_owned());
                prop_assert_eq!(*by_parts.entry(parts).or_insert(key), key);
                prop_assert_eq!(*by_flat.entry(name.flat().to_owned()).or_insert(key), key);
            }
        }
    }

    /// K4
    #[test]
    fn a_name_does_not_depend_on_other_keys(keys in keys(), kept in any::<Index>()) {
        for profile in profiles() {
            let all = ToolNameIndex::build(&profile, keys.clone());
            let key = kept.get(&keys);
            let alone = ToolNameIndex::build(&profile, [key.clone()]);
            prop_assert_eq!(all.name_of(key), alone.name_of(key));
            prop_assert_eq!(all.name_of(key), Some(&profile.name(key)));
        }
    }

    /// K4, K5
    #[test]
    fn every_name_keeps_the_alphabet_the_limit_and_the_grammar(keys in keys()) {
        for profile in profiles() {
            for key in &keys {
                let name = profile.name(key);
                let flat = name.flat();
                prop_assert!(flat.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)));
                prop_assert!(flat.len() <= profile.limit(), "{}", flat);
                prop_assert_eq!(flat, format!("{}__{}", name.namespace(), name.name()));
                prop_assert_eq!(name.namespace(), profile.namespace(key.server()));
                // Split at `__` it comes apart in one way.
                let pieces: Vec<&str> = flat.split("__").collect();
                prop_assert_eq!(pieces.len(), 3);
                prop_assert_eq!(pieces[0], profile.prefix());
                prop_assert!(pieces.iter().all(|piece| !piece.starts_with('_') && !piece.ends_with('_')));
            }
        }
    }

    /// K4
    #[test]
    fn a_plain_name_within_its_budget_is_kept(
        server in "[A-Za-z0-9-]{1,12}(_[A-Za-z0-9-]{1,8}){0,2}",
        tool in "[A-Za-z0-9-]{1,9}(_[A-Za-z0-9-]{1,6}){0,2}",
    ) {
        // The longest tool part has 23 bytes when the server takes all of its own 34.
        prop_assume!(![&server, &tool].iter().any(|text| text.contains('x')));
        let name = NameProfile::LIMIT_64.name(&tool_key(None, &server, &tool));
        prop_assert_eq!(name.flat(), format!("mcp__{server}__{tool}"));
    }
}

/// K4
#[test]
fn only_what_could_pass_for_a_shortened_name_is_not_plain() {
    for (tool, plain, why) in [
        ("a_b-c", true, "words with one separator between"),
        ("-", true, "a hyphen is a word"),
        ("_a", false, "a separator before"),
        ("a_", false, "a separator behind"),
        ("a__b", false, "two separators"),
        ("a.b", false, "a character outside the alphabet"),
        ("xabcdefghij", false, "all suffix"),
        ("a_xabcdefghij", false, "ends like a suffix"),
        ("a_xabcdefgh27", false, "digits of base32 too"),
        ("axabcdefghij", true, "no separator before the `x`"),
        ("a-xabcdefghij", true, "a hyphen does not separate"),
        ("xabcdefghij_a", true, "like a suffix, but not at the end"),
        ("a_xabcdefghi", true, "one character short"),
        ("a_xabcdefghijk", true, "one too many"),
        ("a_xabcdefghi0", true, "0, 1, 8 and 9 are not base32"),
        ("a_xabcdefghiJ", true, "nor are capitals"),
        ("a_Xabcdefghij", true, "nor does a capital start a suffix"),
    ] {
        let name = NameProfile::LIMIT_64.name(&tool_key(None, "docs", tool));
        assert_eq!(name.name() == tool, plain, "{tool}: {why}");
    }
}

/// K5
#[test]
fn the_default_profile_is_the_smaller_one() {
    let profile = NameProfile::default();
    assert_eq!(profile, NameProfile::LIMIT_64);
    assert_eq!((profile.limit(), profile.prefix()), (64, "mcp"));
    assert_eq!(NameProfile::LIMIT_128.limit(), 128);
}

/// K5
#[test]
fn a_prefix_replaces_mcp_and_nothing_else() {
    let key = tool_key(Some("devbox"), "docs", "get page");
    let ours = NameProfile::LIMIT_64.name(&key);
    let theirs = NameProfile::LIMIT_64.with_prefix("ext").unwrap().name(&key);
    assert_eq!(theirs.flat(), ours.flat().replacen("mcp", "ext", 1));
}

/// K5
#[test]
fn a_prefix_that_would_break_the_grammar_is_refused() {
    for (prefix, why) in [
        ("", "empty"),
        ("9p", "some model interfaces want a letter first"),
        ("-p", "likewise"),
        ("a_b", "`_` separates"),
        ("a__b", "so does `__`"),
        ("p ", "not in the alphabet"),
        ("é", "not ASCII"),
        ("p\n", "a control character"),
        ("pppppppppppppp", "leaves no room for a tool"),
    ] {
        let error = NameProfile::LIMIT_64.with_prefix(prefix).expect_err(why);
        assert!(
            error.to_string().contains("choose one like `mcp`"),
            "{error}"
        );
    }
}
