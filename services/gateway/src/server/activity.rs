//! What one connection is doing: whether a request is being served, and since when it is idle.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::app::ConnectionLimits;

/// Shared by the connection's task, its socket, its requests and the registry. Times are milliseconds of `now`.
pub(super) struct Activity {
    accepted: u64,
    requests: AtomicUsize,
    served: AtomicBool,
    http2: AtomicBool,
    /// The end of the last request, or the last bytes that were written.
    idle_since: AtomicU64,
    /// The first bytes of a request whose headers are not complete. 0: none.
    headers_since: AtomicU64,
    /// The registry wants the room for another connection.
    pub(super) evicted: Notify,
}

impl Activity {
    pub(super) fn new() -> Arc<Self> {
        let accepted = now();
        Arc::new(Self {
            accepted,
            requests: AtomicUsize::new(0),
            served: AtomicBool::new(false),
            http2: AtomicBool::new(false),
            idle_since: AtomicU64::new(accepted),
            headers_since: AtomicU64::new(0),
            evicted: Notify::new(),
        })
    }

    pub(super) fn set_http2(&self) {
        self.http2.store(true, Relaxed);
    }

    pub(super) fn is_http2(&self) -> bool {
        self.http2.load(Relaxed)
    }

    /// A request's headers are complete. It is served until the guard is dropped.
    pub(super) fn request(self: &Arc<Self>) -> InFlight {
        self.requests.fetch_add(1, Relaxed);
        self.served.store(true, Relaxed);
        self.headers_since.store(0, Relaxed);
        InFlight(Arc::clone(self))
    }

    /// Frames of HTTP/2 come at any time and begin no request.
    pub(super) fn bytes_read(&self) {
        if self.requests.load(Relaxed) == 0 && self.headers_since.load(Relaxed) == 0 && !self.is_http2() {
            self.headers_since.store(now(), Relaxed);
        }
    }

    /// In HTTP/2 these may be an answer to a ping.
    pub(super) fn bytes_written(&self) {
        if !self.is_http2() {
            self.idle_since.store(now(), Relaxed);
        }
    }

    /// Since when nothing is asked of this connection; a connection that was never asked anything sorts first.
    pub(super) fn idle(&self) -> Option<(bool, u64)> {
        let idle = self.requests.load(Relaxed) == 0;
        idle.then(|| (self.served.load(Relaxed), self.idle_since.load(Relaxed)))
    }

    /// Returns when the connection has been idle, or at its headers, for too long.
    pub(super) async fn expired(&self, limits: &ConnectionLimits) {
        loop {
            let now = now();
            // Headers may begin at any time, and have the shorter limit.
            let soon = now + millis(limits.header);
            let next = match self.expires(limits) {
                Some(at) if at <= now => return,
                Some(at) => at.min(soon),
                None => soon,
            };
            tokio::time::sleep(Duration::from_millis(next - now)).await;
        }
    }

    /// `None` while a request is served.
    fn expires(&self, limits: &ConnectionLimits) -> Option<u64> {
        let (served, idle_since) = self.idle()?;
        let headers_since = self.headers_since.load(Relaxed);
        Some(match (served, headers_since) {
            (false, _) => self.accepted + millis(limits.header),
            (true, 0) => idle_since + millis(limits.idle),
            (true, since) => since + millis(limits.header),
        })
    }
}

/// One request, to the end of its answer's body where that has no known length.
pub(super) struct InFlight(Arc<Activity>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.idle_since.store(now(), Relaxed);
        self.0.requests.fetch_sub(1, Relaxed);
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Milliseconds of this process, never 0.
pub(super) fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    millis(START.get_or_init(Instant::now).elapsed()).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn expires_after(activity: &Activity) -> u64 {
        let (header, idle) = (Duration::from_secs(10), Duration::from_secs(60));
        let limits = ConnectionLimits { header, idle, ..ConnectionLimits::default() };
        let began = Instant::now();
        activity.expired(&limits).await;
        began.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn connection_without_a_request_expires_after_the_header_timeout() {
        let activity = Activity::new();
        activity.bytes_read();
        assert_eq!(expires_after(&activity).await, 10);
    }

    #[tokio::test(start_paused = true)]
    async fn connection_after_a_request_expires_after_the_idle_timeout() {
        let activity = Activity::new();
        drop(activity.request());
        assert_eq!(expires_after(&activity).await, 60);
    }

    #[tokio::test(start_paused = true)]
    async fn connection_with_half_a_second_request_expires_after_the_header_timeout() {
        let activity = Activity::new();
        drop(activity.request());
        tokio::time::sleep(Duration::from_secs(30)).await;
        activity.bytes_read();
        assert_eq!(expires_after(&activity).await, 10);
    }

    #[tokio::test(start_paused = true)]
    async fn connection_with_a_request_does_not_expire() {
        let activity = Activity::new();
        let request = activity.request();
        let expired =
            tokio::time::timeout(Duration::from_secs(3_600), activity.expired(&ConnectionLimits::default())).await;
        assert!(expired.is_err());
        drop(request);
        assert_eq!(expires_after(&activity).await, 60);
    }
}
