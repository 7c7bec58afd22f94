//! Children are started a few at a time: hundreds at once would leave nothing of the machine to the servers that are
//! there already (R9), and would be started although nobody wants them any more (R11).

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Children that this process starts at the same time.
const AT_ONCE: usize = 4;
/// A start that takes longer waits for a file system, and holds up nobody else.
const HUNG: Duration = Duration::from_secs(1);
/// How often those who wait look whether they still have to.
const LOOK: Duration = Duration::from_millis(20);

static STARTING: Turns = Turns::new();

/// Those whose turn it is, each since when.
#[derive(Debug)]
struct Turns {
    taken: Mutex<Taken>,
    freed: Condvar,
}

#[derive(Debug)]
struct Taken {
    next: u64,
    turns: Vec<(u64, Instant)>,
}

/// A turn; dropping it is the next one's.
#[derive(Debug)]
pub(super) struct Turn {
    number: u64,
    of: &'static Turns,
}

impl Turn {
    /// Waits for one; `None` when it is given up first.
    pub(super) fn wait(given_up: &CancellationToken) -> Option<Self> {
        STARTING.wait(given_up)
    }
}

impl Turns {
    const fn new() -> Self {
        Self {
            taken: Mutex::new(Taken {
                next: 0,
                turns: Vec::new(),
            }),
            freed: Condvar::new(),
        }
    }

    fn wait(&'static self, given_up: &CancellationToken) -> Option<Turn> {
        let mut taken = self.taken();
        while !given_up.is_cancelled() {
            let busy = taken
                .turns
                .iter()
                .filter(|(_, since)| since.elapsed() < HUNG);
            if busy.count() < AT_ONCE {
                let number = taken.next;
                taken.next += 1;
                taken.turns.push((number, Instant::now()));
                return Some(Turn { number, of: self });
            }
            let waited = self.freed.wait_timeout(taken, LOOK);
            taken = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        None
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        // Every change of the list is complete or has not begun.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let number = self.number;
        self.of.taken().turns.retain(|(other, _)| *other != number);
        self.of.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn turns() -> &'static Turns {
        Box::leak(Box::new(Turns::new()))
    }

    #[test]
    fn so_many_start_at_once_and_the_next_one_when_one_is_through() {
        let (turns, nobody) = (turns(), CancellationToken::new());
        let mut taken: Vec<_> = (0..AT_ONCE).filter_map(|_| turns.wait(&nobody)).collect();
        assert_eq!(taken.len(), AT_ONCE);
        let waiting = thread::spawn({
            let nobody = nobody.clone();
            move || turns.wait(&nobody).is_some()
        });
        assert_eq!(turns.taken().turns.len(), AT_ONCE);
        taken.pop();
        assert!(waiting.join().unwrap());
        taken.clear();
        assert!(turns.taken().turns.is_empty());
    }

    /// R11
    #[test]
    fn who_is_given_up_waits_no_more() {
        let (turns, given_up) = (turns(), CancellationToken::new());
        let _taken: Vec<_> = (0..AT_ONCE).filter_map(|_| turns.wait(&given_up)).collect();
        let waiting = thread::spawn({
            let given_up = given_up.clone();
            move || turns.wait(&given_up).is_none()
        });
        given_up.cancel();
        assert!(waiting.join().unwrap());
        assert!(turns.wait(&given_up).is_none(), "nor does it begin");
    }

    /// R1
    #[test]
    fn a_start_that_hangs_holds_up_nobody() {
        let turns = turns();
        let long_ago = Instant::now().checked_sub(HUNG * 2).unwrap();
        turns.taken().turns = vec![(u64::MAX, long_ago); AT_ONCE * 3];
        assert!(turns.wait(&CancellationToken::new()).is_some());
    }
}
