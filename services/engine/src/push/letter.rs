//! One notification on its way: its name, its headers and its signature (docs/push.md says how to check it).

use std::time::Duration;

use bytes::Bytes;
use pleat_domain::push::Receiver;
use pleat_domain::{TaskId, TenantId};
use pleat_egress::OutboundRequest;
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::keyring::Signer;

/// What a receiver is told, in its dialect.
#[derive(Debug, Clone)]
pub struct Notice {
    pub content_type: &'static str,
    pub body: Bytes,
}

pub(super) struct Letter {
    /// The same at every attempt, so that a receiver can tell a repetition.
    pub(super) id: Uuid,
    pub(super) seq: u32,
    notice: Notice,
}

impl Letter {
    pub(super) fn new(task: TaskId, push: &str, seq: u32, notice: Notice) -> Self {
        Self { id: message_id(task, push, seq), seq, notice }
    }

    pub(super) fn bytes(&self) -> usize {
        self.notice.body.len()
    }

    /// Signed for this moment: a receiver refuses what is too old.
    pub(super) fn request(
        &self,
        receiver: &Receiver,
        signer: &Signer,
        tenant: TenantId,
        timeout: Duration,
    ) -> OutboundRequest {
        let (id, timestamp) = (message_name(self.id), OffsetDateTime::now_utc().unix_timestamp());
        let signature = signer.sign(tenant, &id, timestamp, &self.notice.body);
        let mut headers = vec![
            ("content-type", self.notice.content_type.to_owned()),
            ("webhook-id", id),
            ("webhook-timestamp", timestamp.to_string()),
            ("webhook-signature", signature),
        ];
        if let Some(token) = &receiver.token {
            headers.push(("x-a2a-notification-token", token.clone()));
        }
        if let Some((scheme, credentials)) =
            receiver.auth.as_ref().and_then(|auth| Some((&auth.scheme, auth.credentials.as_ref()?)))
        {
            headers.push(("authorization", format!("{scheme} {credentials}")));
        }
        OutboundRequest {
            method: "POST".to_owned(),
            url: receiver.url.clone(),
            headers: headers.into_iter().map(|(name, value)| (name.to_owned(), value.into_bytes())).collect(),
            body: Some(self.notice.body.clone()),
            timeout: Some(timeout),
            follow_redirects: false,
            head_only: true,
        }
    }
}

/// The same at every attempt at one event.
pub(super) fn message_id(task: TaskId, push: &str, seq: u32) -> Uuid {
    let mut hasher = Sha256::new();
    hasher.update(task.as_uuid().as_bytes());
    hasher.update(seq.to_be_bytes());
    hasher.update(push.as_bytes());
    let digest: [u8; 32] = hasher.finalize().into();
    Uuid::from_slice(digest.get(..16).unwrap_or_default()).unwrap_or_default()
}

/// As receivers and the delivery log have it.
pub(super) fn message_name(id: Uuid) -> String {
    format!("msg_{}", id.simple())
}
