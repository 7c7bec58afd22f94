//! Announcements of the modern era: they come only to those who asked, for as long as the request is open.

use mcp_sandbox_meta::RawMeta;
use rmcp::model::{ServerNotification, SubscriptionFilter};
use serde::Serialize;

use super::request::{RequestError, RequestErrorKind};
use super::stdio::InFlight;
use super::{Connection, Link, SpokenEra};
use crate::deadline::Deadline;

const METHOD: &str = "subscriptions/listen";

/// An open request for announcements. Dropping it ends it.
#[derive(Debug)]
pub(crate) enum Subscription {
    /// The announcements come as notifications, and are read where all are.
    Stdio(InFlight),
    /// rmcp routes the announcements here.
    Http(Box<rmcp::service::Subscription>),
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
        match &self.link {
            Link::Stdio(link) => {
                let meta = self.request_meta(RawMeta::new(), None);
                let params = |_| Params {
                    notifications,
                    meta,
                };
                link.begin(METHOD, params, None)
                    .map(|request| Some(Subscription::Stdio(request)))
            }
            Link::Http(link) => {
                let subscription = link.listen(METHOD, notifications, deadline).await?;
                Ok(Some(Subscription::Http(Box::new(subscription))))
            }
        }
    }

    /// Keeps a subscription until it ends; each announcement owes a refresh (C9).
    pub(crate) async fn listen(&self, subscription: Subscription) -> Result<(), RequestError> {
        match subscription {
            Subscription::Stdio(mut request) => request.result().await.map(drop),
            Subscription::Http(mut subscription) => loop {
                match subscription.next().await {
                    Ok(Some(ServerNotification::ToolListChangedNotification(_))) => {
                        self.refresh.request();
                    }
                    Ok(Some(_)) => {}
                    Ok(None) => return Ok(()),
                    Err(error) => {
                        return Err(RequestError::new(METHOD, RequestErrorKind::of_peer(error)));
                    }
                }
            },
        }
    }
}
