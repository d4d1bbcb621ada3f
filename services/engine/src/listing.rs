//! Lists of tasks: a caller's own at the agent's door, and the tenant's for those who may see all of it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pleat_domain::{Caller, ContextId, Principal, SkillName, Task, TaskId, TaskState, Tenant};
use pleat_policy::Action;
use pleat_store::{TaskFilter, TaskList};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::engine::{Engine, authorize};
use crate::error::EngineError;

/// Tasks on a page at most.
const PAGE_MOST: u32 = 100;

/// How far tasks are counted: beyond this, nobody reads the number.
const COUNT_MOST: u32 = 100_000;

/// Which tasks of the tenant to list.
#[derive(Debug, Clone, Default)]
pub struct TaskQuery {
    pub caller: Option<Caller>,
    pub skill: Option<SkillName>,
    pub state: Option<TaskState>,
    pub context: Option<ContextId>,
    /// Changed then or later.
    pub since: Option<OffsetDateTime>,
    /// Steps of pipelines too.
    pub steps: bool,
    pub limit: u32,
    /// Continue behind this task.
    pub before: Option<(OffsetDateTime, TaskId)>,
}

#[derive(Debug)]
pub struct TaskPage {
    pub tasks: Vec<Task>,
    pub more: bool,
}

/// Which of the tasks that a caller may see to list.
#[derive(Debug, Clone)]
pub struct ListQuery {
    pub context: Option<ContextId>,
    pub state: Option<TaskState>,
    pub since: Option<OffsetDateTime>,
    /// 1 to 100.
    pub size: u32,
    /// `next` of the page before.
    pub token: Option<String>,
    pub artifacts: bool,
    pub history: bool,
}

#[derive(Debug, Default)]
pub struct ListPage {
    pub tasks: Vec<Task>,
    /// Where the list goes on, if it does: good for the same tenant, caller and filters only.
    pub next: Option<String>,
    /// Over all pages, as it was on the first; counted up to 100,000.
    pub total: u32,
}

impl Engine {
    /// For the control API.
    pub async fn list_tasks(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        query: TaskQuery,
    ) -> Result<TaskPage, EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)?;
        let filter = TaskFilter {
            owner: query.caller,
            skill: query.skill,
            state: query.state,
            context: query.context,
            since: query.since,
            limit: query.limit.clamp(1, PAGE_MOST),
            before: query.before,
            steps: query.steps,
            ..TaskFilter::default()
        };
        let (tasks, more) = self.page(tenant, filter).await?;
        Ok(TaskPage { tasks, more })
    }

    /// The tasks that this caller may see. Who has no key has its unguessable ids and nothing else: its list is empty.
    pub async fn visible_tasks(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        query: ListQuery,
    ) -> Result<ListPage, EngineError> {
        authorize(principal, Action::UseDoor, EngineError::TaskNotFound)?;
        if *principal == Principal::Anonymous {
            return match query.token {
                None => Ok(ListPage::default()),
                Some(_) => Err(strange_token()),
            };
        }
        let owner = (!principal.sees_all_tasks()).then(|| principal.caller());
        let list = List { tenant, owner: owner.as_ref(), query: &query };
        let place = query.token.as_deref().map(|token| self.open_token(&list, token)).transpose()?;
        let filter = TaskFilter {
            owner: owner.clone(),
            state: query.state,
            context: query.context.clone(),
            since: query.since,
            limit: query.size.clamp(1, PAGE_MOST),
            before: place.map(|place| (place.at, place.task)),
            artifacts: query.artifacts,
            history: query.history,
            steps: false,
            ..TaskFilter::default()
        };
        let total = match place {
            Some(place) => place.total,
            None => self.tenant_store(tenant).count_tasks(&filter, COUNT_MOST).await?,
        };
        let (tasks, more) = self.page(tenant, filter).await?;
        let last = tasks.last().filter(|_| more);
        let next = last.map(|task| self.seal_token(&list, Place { at: task.updated_at, task: task.id, total }));
        Ok(ListPage { tasks, next, total })
    }

    /// One more is read than is shown, to know whether there are more. A page that would weigh too much is cut short.
    async fn page(&self, tenant: &Tenant, filter: TaskFilter) -> Result<(Vec<Task>, bool), EngineError> {
        let wanted = filter.limit as usize;
        let filter = TaskFilter { limit: filter.limit + 1, ..filter };
        let TaskList { mut tasks, cut } = self.tenant_store(tenant).list_tasks(&filter).await?;
        let more = cut || tasks.len() > wanted;
        tasks.truncate(wanted);
        Ok((tasks, more))
    }

    fn seal_token(&self, list: &List<'_>, place: Place) -> String {
        let mut token = place.bytes();
        let mark = self.inner.pages.mark(&list.parts(&token));
        token.extend_from_slice(&mark);
        URL_SAFE_NO_PAD.encode(token)
    }

    fn open_token(&self, list: &List<'_>, token: &str) -> Result<Place, EngineError> {
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| strange_token())?;
        let (place, mark) = bytes.split_at_checked(Place::BYTES).ok_or_else(strange_token)?;
        if !self.inner.pages.is_mark(&list.parts(place), mark) {
            return Err(strange_token());
        }
        Place::read(place).ok_or_else(strange_token)
    }
}

/// One answer for made up, of another list, another caller's and another tenant's.
fn strange_token() -> EngineError {
    EngineError::Invalid("`pageToken` is not one that this list has given out; begin without one".to_owned())
}

/// What a token is good for.
struct List<'a> {
    tenant: &'a Tenant,
    owner: Option<&'a Caller>,
    query: &'a ListQuery,
}

impl List<'_> {
    fn parts(&self, place: &[u8]) -> [Vec<u8>; 6] {
        let text = |text: Option<&str>| text.unwrap_or_default().as_bytes().to_vec();
        let since = self.query.since.map(|since| since.unix_timestamp_nanos().to_be_bytes().to_vec());
        [
            self.tenant.id.as_uuid().as_bytes().to_vec(),
            text(self.owner.map(Caller::as_str)),
            text(self.query.context.as_ref().map(ContextId::as_str)),
            text(self.query.state.map(TaskState::as_str)),
            since.unwrap_or_default(),
            place.to_vec(),
        ]
    }
}

/// Behind which task a list goes on, and how many there were when it began.
#[derive(Clone, Copy)]
struct Place {
    at: OffsetDateTime,
    task: TaskId,
    total: u32,
}

impl Place {
    const BYTES: usize = 8 + 16 + 4;

    /// Times are kept in microseconds.
    fn bytes(self) -> Vec<u8> {
        let micros = i64::try_from(self.at.unix_timestamp_nanos() / 1_000).unwrap_or(i64::MAX);
        let mut bytes = micros.to_be_bytes().to_vec();
        bytes.extend_from_slice(self.task.as_uuid().as_bytes());
        bytes.extend_from_slice(&self.total.to_be_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (micros, rest) = bytes.split_first_chunk::<8>()?;
        let (task, rest) = rest.split_first_chunk::<16>()?;
        let total = u32::from_be_bytes(*rest.first_chunk::<4>()?);
        let nanos = i128::from(i64::from_be_bytes(*micros)) * 1_000;
        let at = OffsetDateTime::from_unix_timestamp_nanos(nanos).ok()?;
        Some(Self { at, task: TaskId::from_uuid(Uuid::from_bytes(*task)), total })
    }
}
