//! A receiver's answer to one notification, and what follows from it: delivered, tried again after a pause, given up.

use std::time::Duration;

use pleat_egress::{EgressError, OutboundResponse};
use pleat_store::PushBecame;

use super::follow::PushTimes;

/// No pause is longer.
const LONGEST: Duration = Duration::from_secs(3_600);

/// What came of one request.
pub(super) struct Heard {
    pub(super) status: Option<u16>,
    pub(super) fault: Option<String>,
    /// The receiver wants nothing any more.
    gone: bool,
    /// Not before this.
    pause: Duration,
}

impl Heard {
    pub(super) fn of(answer: Result<OutboundResponse, EgressError>) -> Self {
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                return Self { status: None, fault: Some(error.to_string()), gone: false, pause: Duration::ZERO };
            }
        };
        let status = answer.status;
        let fault = match status {
            200..=299 => None,
            300..=399 => Some(format!("the receiver answered {status}; redirects are not followed")),
            _ => Some(format!("the receiver answered {status}")),
        };
        let wish = answer.headers.iter().find(|(name, _)| name == "retry-after");
        let wish = wish.and_then(|(_, value)| std::str::from_utf8(value).ok()?.trim().parse().ok());
        let pause = Duration::from_secs(wish.unwrap_or(0)).min(LONGEST);
        Self { status: Some(status), fault, gone: status == 410, pause }
    }

    pub(super) const fn is_accepted(&self) -> bool {
        self.fault.is_none()
    }

    pub(super) fn becomes(&self, number: u32, times: &PushTimes) -> PushBecame {
        match self.fault {
            None => PushBecame::Delivered,
            Some(_) if self.gone || number >= times.attempts => PushBecame::Dead,
            Some(_) => PushBecame::Retrying(pause_after(number, times.first_pause).max(self.pause)),
        }
    }
}

/// Four times as long each time, and a quarter more or less, so that receivers that failed together are not asked
/// together.
fn pause_after(number: u32, first: Duration) -> Duration {
    let even = first.saturating_mul(4_u32.saturating_pow(number.saturating_sub(1))).min(LONGEST);
    even.mul_f64(rand::random_range(0.75..1.25))
}
