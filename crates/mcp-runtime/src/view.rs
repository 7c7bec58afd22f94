//! What is exposed while some environments are selected, and what a step captures of it (B1, K8).

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::{ArcSwap, ArcSwapOption};
use mcp_keys::{
    EnvironmentId, HiddenReason, InvalidSelection, McpServerKey, MultiEnvironment, NameProfile,
    SelectedEnvironments,
};

use crate::authority::{Authorities, Primary};
use crate::binding::Binding;
use crate::call::Gates;
use crate::event::{EventSink, RuntimeEvent};
use crate::roster::{Exposed, Roster};
use crate::scope::Scope;
use crate::slot::{Slot, SlotState};

/// Selections for single steps that are kept. A host has few; one that has more pays for looking again.
const KEPT: usize = 64;

/// A selection of environments that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// There is no environment with this id.
    #[error("there is no environment `{0}`")]
    Unknown(EnvironmentId),
    /// There is none in it, or one twice.
    #[error(transparent)]
    Invalid(#[from] InvalidSelection),
}

/// What one selection of environments exposes.
#[derive(Debug)]
pub(crate) struct View {
    /// Sorted by the key they are exposed under; the hidden ones last.
    slots: Vec<Arc<Slot>>,
    scope: Scope,
    /// The last capture, for as long as it is current.
    captured: ArcSwapOption<Binding>,
}

/// Every selection that is in use. Servers that one exposes and an earlier one has exposed too are the same.
#[derive(Debug)]
pub(crate) struct Views {
    roster: Roster,
    environments: Vec<EnvironmentId>,
    feature: MultiEnvironment,
    events: EventSink,
    primary: Primary,
    current: ArcSwap<View>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    exposed: Exposed,
    of_steps: HashMap<SelectedEnvironments, Arc<View>>,
}

impl View {
    /// Every server, sorted by key, hidden ones last.
    pub(crate) fn slots(&self) -> &[Arc<Slot>] {
        &self.slots
    }

    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Captures what can be called now, or gives what was captured last when that is the same.
    pub(crate) fn capture(
        &self,
        profile: &NameProfile,
        authorities: &Authorities,
        gates: &Arc<Gates>,
        events: &EventSink,
    ) -> Binding {
        if let Some(binding) = self.captured.load().as_deref()
            && binding.is_current(&self.slots, authorities)
        {
            return binding.clone();
        }
        let authorities = authorities.capture();
        let binding = Binding::capture(&self.slots, profile, &self.scope, authorities, gates);
        for tools in binding.collisions() {
            let tools = tools.to_vec();
            events.state(RuntimeEvent::NameCollision { tools });
        }
        self.captured.store(Some(Arc::new(binding.clone())));
        binding
    }
}

impl Views {
    /// The first selection. What it exposes is to be started.
    pub(crate) fn new(
        roster: Roster,
        environments: Vec<EnvironmentId>,
        selected: SelectedEnvironments,
        feature: MultiEnvironment,
        events: EventSink,
        primary: Primary,
    ) -> Self {
        primary.set(selected.primary().clone());
        let mut state = State::default();
        let view = state.view(&roster, feature, selected);
        view.tell_hidden(None, &events);
        Self {
            roster,
            environments,
            feature,
            events,
            primary,
            current: ArcSwap::new(view),
            state: Mutex::new(state),
        }
    }

    /// What is exposed now.
    pub(crate) fn current(&self) -> Arc<View> {
        self.current.load_full()
    }

    /// As [`current`](Self::current), for a moment.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&View) -> R) -> R {
        look(&self.current.load())
    }

    /// Every environment, in the order in which they were given.
    pub(crate) fn environments(&self) -> &[EnvironmentId] {
        &self.environments
    }

    /// Every server that was ever exposed.
    pub(crate) fn all_slots(&self) -> Vec<Arc<Slot>> {
        self.state().exposed.all().cloned().collect()
    }

    /// Every server that is exposed for the first time, once.
    pub(crate) fn fresh(&self) -> Vec<Arc<Slot>> {
        self.state().exposed.take_fresh()
    }

    /// Selects an environment, or does not any more. What is [fresh](Self::fresh) then is to be started.
    pub(crate) fn select(
        &self,
        environment: &EnvironmentId,
        selected: bool,
    ) -> Result<(), SelectionError> {
        self.check(environment)?;
        let mut state = self.state();
        let current = self.current();
        let now = |id: &&EnvironmentId| match *id == environment {
            true => selected,
            false => current.scope.selected.contains(id),
        };
        let chosen = self.environments.iter().filter(now).cloned();
        let chosen = SelectedEnvironments::new(chosen)?;
        if chosen == current.scope.selected {
            return Ok(());
        }
        self.primary.set(chosen.primary().clone());
        let view = state.view(&self.roster, self.feature, chosen);
        self.current.store(view.clone());
        drop(state);
        view.tell_hidden(Some(&current), &self.events);
        Ok(())
    }

    /// What another selection exposes, in this order; the first one is the primary. What is [fresh](Self::fresh) then is to be
    /// started.
    pub(crate) fn of_step(
        &self,
        environments: impl IntoIterator<Item = EnvironmentId>,
    ) -> Result<Arc<View>, SelectionError> {
        let chosen = SelectedEnvironments::new(environments)?;
        chosen
            .iter()
            .try_for_each(|environment| self.check(environment))?;
        let current = self.current();
        if chosen == current.scope.selected {
            return Ok(current);
        }
        let mut state = self.state();
        if let Some(view) = state.of_steps.get(&chosen) {
            return Ok(view.clone());
        }
        let view = state.view(&self.roster, self.feature, chosen.clone());
        if state.of_steps.len() >= KEPT {
            state.of_steps.clear();
        }
        state.of_steps.insert(chosen, view.clone());
        Ok(view)
    }

    fn check(&self, environment: &EnvironmentId) -> Result<(), SelectionError> {
        let is_known = self.environments.contains(environment);
        is_known
            .then_some(())
            .ok_or_else(|| SelectionError::Unknown(environment.clone()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every map operation is complete or has not begun.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn view(
        &mut self,
        roster: &Roster,
        feature: MultiEnvironment,
        selected: SelectedEnvironments,
    ) -> Arc<View> {
        let slots = roster.slots(feature, &selected, &mut self.exposed);
        // With the feature off, what is hidden does not exist for a step (K8).
        let exists = |slot: &&Arc<Slot>| {
            feature == MultiEnvironment::On || !matches!(slot.state(), SlotState::Hidden { .. })
        };
        let known = slots.iter().filter(exists).map(|slot| slot.key.clone());
        let known = known.collect();
        Arc::new(View {
            slots,
            scope: Scope { known, selected },
            captured: ArcSwapOption::empty(),
        })
    }
}

impl View {
    /// The servers that nobody can name, and why.
    fn hidden(&self) -> BTreeSet<(McpServerKey, HiddenReason)> {
        let hidden = self.slots.iter().filter_map(|slot| match slot.state() {
            SlotState::Hidden { reason } => Some((slot.key.clone(), reason)),
            _ => None,
        });
        hidden.collect()
    }

    /// Tells what is hidden, but for what was hidden before for the same reason.
    fn tell_hidden(&self, before: Option<&Self>, events: &EventSink) {
        let known = before.map(Self::hidden).unwrap_or_default();
        for (server, reason) in self.hidden() {
            if !known.contains(&(server.clone(), reason)) {
                events.state(RuntimeEvent::Hidden { server, reason });
            }
        }
    }
}
