//! Announcements of the modern era: they come only to those who asked, for as long as the request is open.

use mcp_sandbox_meta::RawMeta;
use rmcp::model::SubscriptionFilter;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio_util::task::AbortOnDropHandle;

use super::in_flight::InFlight;
use super::request::RequestError;
use super::{Connection, Link, SpokenEra};
use crate::deadline::Deadline;

const METHOD: &str = "subscriptions/listen";

/// An open request for announcements. Dropping it ends it.
#[derive(Debug)]
pub(crate) enum Subscription {
    Stdio(InFlight),
    /// A stream of its own is read by a task of its own.
    Http(AbortOnDropHandle<Result<Box<RawValue>, RequestError>>),
}

#[derive(Serialize)]
struct Params {
    notifications: SubscriptionFilter,
    #[serde(rename = "_meta", skip_serializing_if = "RawMeta::is_empty")]
    meta: RawMeta,
}

impl Connection {
    /// Asks for announcements of changed tools, where that is needed: in the legacy era they come by themselves.
    pub(crate) async fn subscribe(
        &self,
        deadline: &Deadline,
    ) -> Result<Option<Subscription>, RequestError> {
        if self.facts.era == SpokenEra::Legacy || !self.facts.announces_tools() {
            return Ok(None);
        }
        let notifications = SubscriptionFilter::builder().tools_list_changed().build();
        let params = Params {
            notifications,
            meta: self.request_meta(RawMeta::new(), None),
        };
        let subscription = match &self.link {
            Link::Stdio(link) => Subscription::Stdio(link.begin(METHOD, |_| params, None)?),
            Link::Http(link) => Subscription::Http(link.open(METHOD, params, deadline).await?),
        };
        Ok(Some(subscription))
    }

    /// Keeps a subscription until it ends. The announcements come as notifications, and are read where all are.
    pub(crate) async fn listen(&self, subscription: Subscription) -> Result<(), RequestError> {
        match subscription {
            Subscription::Stdio(mut request) => request.result().await.map(drop),
            // A task that was aborted or has panicked is a subscription that is over.
            Subscription::Http(task) => task.await.map_or(Ok(()), |ended| ended.map(drop)),
        }
    }
}
