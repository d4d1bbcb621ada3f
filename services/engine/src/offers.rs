//! What functions offer beside being called: resources that can be read and prompts that can be got.
//!
//! Reading is no task: nothing is recorded of it. It is admitted, limited, metered and seen by the hooks like a call.

use std::sync::Arc;

use pleat_domain::{Artifact, ContextId, Door, Principal, Raw, Task, TaskId, TaskState, Tenant, json};
use pleat_runtime::Entry;
use serde_json::json;
use time::OffsetDateTime;
use tracing::Instrument;

use crate::calling::CancelOnDrop;
use crate::catalog::{Callable, Skill};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::findings::Circumstances;
use crate::reach::Standing;
use crate::run::{Admitted, Run};

/// Something offered that is asked for.
pub struct Offer {
    pub tenant: Arc<Tenant>,
    pub principal: Principal,
    pub skill: Callable,
    pub wanted: Wanted,
    /// 1 for the first time that it is asked for.
    pub turn: i16,
    /// What the function kept when it was asked before and needed its caller's client, and what that answered.
    pub state: Option<Raw>,
    pub reply: Option<Raw>,
}

#[derive(Clone)]
pub enum Wanted {
    Resource { uri: String },
    Prompt { name: String, arguments: Raw },
}

impl Engine {
    /// The function's own answer, in the shape of the Model Context Protocol's.
    pub async fn take_offer(&self, offer: Offer) -> Result<Raw, EngineError> {
        self.open_for_work()?;
        let Offer { tenant, principal, skill: Callable(skill), mut wanted, turn, state, mut reply } = offer;
        let of = Circumstances {
            tenant: &tenant,
            task: None,
            skill: skill.name.as_str(),
            caller: &principal.caller(),
            door: Door::Mcp,
        };
        let watch = self.look_at_input(self.watch(&tenant, &skill.guard, None), &of, |watch| {
            match &mut wanted {
                Wanted::Prompt { arguments, .. } => watch.input(arguments, None)?,
                Wanted::Resource { uri } => watch.uri(uri)?,
            }
            reply.as_mut().map_or(Ok(()), |reply| watch.reply(reply))
        })?;
        let (entry, input) = match wanted {
            Wanted::Resource { uri } => (Entry::ReadResource { uri: uri.clone() }, json::raw(&json!({ "uri": uri }))),
            Wanted::Prompt { name, arguments } => (Entry::GetPrompt { name, arguments: arguments.clone() }, arguments),
        };
        let permit = self.enter(&tenant, &principal, &skill, &input).await?;
        let task = unrecorded(&skill, &principal, input, turn);
        let standing = Standing { principal, depth: 0 };
        let admitted = Admitted { permit, standing, watch };
        let mut run = Run::new(self.clone(), tenant, skill, admitted, task, state, Vec::new());
        run.reply = reply;
        self.ask_hooks(&run.verb())?;
        let span = run.span();
        // Nobody can ask later for what is not recorded.
        let _leaving = CancelOnDrop(run.live());
        self.spawn_for(|done| {
            let all = async move { drop(done.send(run.offer(entry).await)) };
            all.instrument(span)
        })
        .await
    }
}

/// What the guest, the meter and the hooks are told of.
fn unrecorded(skill: &Skill, principal: &Principal, input: Raw, turn: i16) -> Task {
    let (id, now) = (TaskId::new(), OffsetDateTime::now_utc());
    Task {
        id,
        skill: Some(skill.name.clone()),
        version: skill.version,
        context: ContextId::of_task(id),
        parent: None,
        step: None,
        run: None,
        caller: principal.caller(),
        door: Door::Mcp,
        alias: None,
        state: TaskState::Working,
        failure: None,
        ask: None,
        input,
        history: Vec::new(),
        artifacts: Vec::<Artifact>::new(),
        guard: None,
        attempt: 1,
        turn,
        last_seq: 0,
        cpu_us: 0,
        wall_us: 0,
        created_at: now,
        updated_at: now,
    }
}
