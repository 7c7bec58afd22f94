//! How long a call may take.

use std::time::Duration;

use crate::deadline::Deadline;

/// The time that a server's configuration gives each call (B3, B4).
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallBudget {
    /// Until the result, or until the next word of progress where that counts.
    pub(crate) timeout: Duration,
    /// In all, where progress begins the timeout anew; otherwise it does not.
    pub(crate) total: Option<Duration>,
}

impl CallBudget {
    /// The deadline of a call that begins now. The caller can only make the timeout smaller.
    pub(crate) fn begin(self, asked: Option<Duration>) -> Deadline {
        let timeout = asked.map_or(self.timeout, |asked| asked.min(self.timeout));
        match self.total {
            Some(total) => Deadline::restartable(timeout.min(total), total),
            None => Deadline::after(timeout),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B4
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn progress_extends_a_call_only_where_that_is_configured() {
        let seconds = Duration::from_secs;
        let rows = [
            (60, None, None, 60, "progress does not count"),
            (
                60,
                None,
                Some(5),
                5,
                "nor with a smaller timeout of the caller's",
            ),
            (60, Some(90), None, 90, "it counts until the total"),
            (
                60,
                Some(90),
                Some(5),
                45,
                "the caller's timeout begins anew",
            ),
            (60, Some(30), None, 30, "the total is the smaller one"),
        ];
        for (timeout, total, asked, expected, why) in rows {
            let budget = CallBudget {
                timeout: seconds(timeout),
                total: total.map(seconds),
            };
            let begun = tokio::time::Instant::now();
            let deadline = budget.begin(asked.map(seconds));
            for _ in 0..10 {
                tokio::time::advance(seconds(4)).await;
                deadline.restart();
            }
            assert_eq!(deadline.at() - begun, seconds(expected), "{why}");
        }
    }
}
