//! Links in Markdown lead somewhere: relative ones to a file, `#anchors` to a heading.

use std::collections::BTreeMap;

use super::{
    Finding,
    tree::{TextFile, Tree},
};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.ending(".md") {
        for (line, target) in links(&file.text) {
            if let Some(message) = problem(tree, file, &target) {
                findings.push(Finding::new(&file.path, "link", message).at(line));
            }
        }
    }
    findings
}

/// What is wrong with a link; nothing for one that leads out of the repository.
fn problem(tree: &Tree, file: &TextFile, target: &str) -> Option<String> {
    let has_scheme = target.split(['/', '#']).next()?.contains(':');
    if has_scheme {
        return None;
    }
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (target, None),
    };
    let path = if path.is_empty() {
        file.path.clone()
    } else {
        match resolve(&file.path, path) {
            Some(path) if tree.contains(&path) => path,
            _ => {
                return Some(format!(
                    "`{target}`: there is no such file: correct the path"
                ));
            }
        }
    };
    let anchor = anchor?;
    let text = tree.text(&path).filter(|_| path.ends_with(".md"))?;
    let known = anchors(text).iter().any(|known| known == anchor);
    (!known).then(|| format!("`{target}`: no heading of {path} has this anchor: correct it"))
}

/// `target` seen from the folder of `from`, without `.` and `..`; `None` when it leaves the repository.
fn resolve(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    if target.starts_with('/') {
        parts.clear();
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The lines outside code fences, counted from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// Link targets with their lines: `[text](target)` and `[name]: target`.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        let line = without_code(line);
        for (at, _) in line.match_indices("](") {
            let rest = &line[at + 2..];
            links.extend(target(rest.split(')').next().unwrap_or(rest)).map(|to| (number, to)));
        }
        if let Some((name, rest)) = line.split_once("]: ")
            && name.starts_with('[')
            && !name.starts_with("[^")
        {
            links.extend(target(rest).map(|to| (number, to)));
        }
    }
    links
}

/// A link's target without angle brackets and title.
fn target(text: &str) -> Option<String> {
    let target = text.trim().trim_start_matches('<');
    let target = target.split([' ', '>']).next()?;
    (!target.is_empty()).then(|| target.to_owned())
}

/// The line without what stands between backticks.
fn without_code(line: &str) -> String {
    let pieces: Vec<_> = line.split('`').collect();
    let closed = pieces.len() % 2 == 1;
    pieces
        .iter()
        .enumerate()
        .filter(|(at, _)| at % 2 == 0 || !closed)
        .map(|(_, piece)| *piece)
        .collect()
}

/// The anchors that a forge gives to the headings.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors = Vec::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        if !(1..=6).contains(&level) || !title.starts_with(' ') {
            continue;
        }
        let slug = slug(title);
        let count = seen.entry(slug.clone()).or_default();
        anchors.push(match *count {
            0 => slug,
            count => format!("{slug}-{count}"),
        });
        *count += 1;
    }
    anchors
}

fn slug(title: &str) -> String {
    title
        .trim()
        .to_lowercase()
        .chars()
        .filter(|&c| c.is_alphanumeric() || " -_".contains(c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: &str =
        "# Who may *know* whom\n## `a` and b\n## `a` and b\n```\n# no heading\n```\n";

    /// The lines of `docs/a.md` whose links lead nowhere.
    #[track_caller]
    fn check_text(text: &str, expected: &[usize]) {
        let tree = Tree::of(&[
            ("docs/a.md", text),
            ("docs/b.md", OTHER),
            ("crates/a/src/lib.rs", ""),
        ]);
        let findings = check(&tree);
        let lines: Vec<_> = findings.iter().filter_map(|finding| finding.line).collect();
        assert_eq!(lines, expected, "{text}");
    }

    #[test]
    fn links_to_files_and_folders_are_followed() {
        check_text(
            "[b](b.md) [c](./b.md) [d](../crates/a) ![e](/docs/b.md \"t\")\n",
            &[],
        );
        check_text(
            "x\n[b](c.md)\n[d](../../b.md)\n[name]: gone.md\n",
            &[2, 3, 4],
        );
        check_text("[lib](../crates/a/src/lib.rs#L3)\n", &[]);
    }

    #[test]
    fn anchors_are_headings_as_a_forge_spells_them() {
        check_text("[b](b.md#who-may-know-whom) [c](b.md#a-and-b-1)\n", &[]);
        check_text("# Here\n[b](#here)\n[c](#there)\n", &[3]);
        check_text("[b](b.md#no-heading)\n[c](b.md#a-and-b-2)\n", &[1, 2]);
    }

    #[test]
    fn other_places_and_code_are_left_alone() {
        check_text(
            "[a](https://example.com/x) [b](mailto:a@example.com)\n",
            &[],
        );
        check_text("`[a](gone.md)`\n```\n[b](gone.md)\n```\n", &[]);
    }
}
