//! Selected environments: one at least, none twice, the first is the primary one.

use mcp_keys::{EnvironmentId, InvalidSelection, SelectedEnvironments};

fn select(ids: &[&str]) -> Result<SelectedEnvironments, InvalidSelection> {
    SelectedEnvironments::new(ids.iter().map(|id| id.parse().unwrap()))
}

#[test]
fn the_order_is_kept_and_the_first_is_primary() {
    let selected = select(&["devbox", "ci", "a"]).unwrap();
    assert_eq!(selected.primary().as_str(), "devbox");
    let order: Vec<&str> = selected.iter().map(EnvironmentId::as_str).collect();
    assert_eq!(order, ["devbox", "ci", "a"]);
    assert!(selected.contains(&"a".parse().unwrap()));
    assert!(!selected.contains(&"A".parse().unwrap()));
    assert!(!selected.is_single());
}

#[test]
fn one_environment_is_a_selection() {
    let devbox: EnvironmentId = "devbox".parse().unwrap();
    let selected = SelectedEnvironments::from(devbox.clone());
    assert_eq!(selected, select(&["devbox"]).unwrap());
    assert!(selected.is_single() && selected.contains(&devbox));
}

#[test]
fn none_or_one_twice_is_no_selection() {
    assert_eq!(select(&[]), Err(InvalidSelection::Empty));
    let twice = Err(InvalidSelection::Repeated("ci".parse().unwrap()));
    assert_eq!(select(&["ci", "devbox", "ci"]), twice);
}
