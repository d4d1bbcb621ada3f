//! Principal, action, resource in; a decision with its reason out.
//!
//! A key of another tenant never gets this far: authentication answers for it as for an unknown key.

use pleat_domain::{Caller, Principal, Scope, Visibility};

/// What is to be done, with what matters about its object.
#[derive(Debug, Clone, Copy)]
pub enum Action<'a> {
    /// Call a skill of the tenant.
    Invoke(Visibility),
    /// Use the agent's door for one's tasks (get, stream), without naming a skill.
    UseDoor,
    ReadTask(&'a Caller),
    /// Answer a task that waits: its own caller, and nobody in its place.
    ContinueTask(&'a Caller),
    CancelTask(&'a Caller),
    /// Have anybody told of one's tasks: never without a name.
    UsePush,
    ChangePush(&'a Caller),
    /// The control API's views of the whole tenant.
    ReadTenant,
    CancelAnyTask,
    RetryPush,
    Deploy,
    /// Secrets and settings: what functions are given by name.
    ManageSecrets,
    ManageKeys,
    ManageIssuers,
    ReadAudit,
    ManageTenants,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Allow,
    Deny(Denial),
}

/// Why not. The edge maps these once: 401, 403, and "not found" where even the existence is nobody's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denial {
    NeedsKey,
    NeedsScope(Scope),
    Hidden,
}

pub fn decide(principal: &Principal, action: Action<'_>) -> Decision {
    match action {
        Action::Invoke(Visibility::Public) => public_door(principal),
        Action::Invoke(Visibility::Unlisted) if *principal == Principal::Anonymous => Decision::Deny(Denial::Hidden),
        Action::Invoke(_) => needs(principal, &[Scope::Invoke]),
        Action::UseDoor => public_door(principal),
        Action::UsePush => needs(principal, &[Scope::Invoke]),
        Action::ReadTask(owner) => own_or(principal, owner, &[Scope::Read, Scope::Deploy, Scope::Admin]),
        Action::ContinueTask(owner) => own_or(principal, owner, &[]),
        Action::CancelTask(owner) | Action::ChangePush(owner) => {
            own_or(principal, owner, &[Scope::Deploy, Scope::Admin])
        }
        Action::ReadTenant => needs(principal, &[Scope::Read, Scope::Deploy, Scope::Admin]),
        Action::CancelAnyTask | Action::RetryPush => needs(principal, &[Scope::Deploy, Scope::Admin]),
        Action::Deploy | Action::ManageSecrets => needs(principal, &[Scope::Deploy]),
        Action::ManageKeys | Action::ManageIssuers | Action::ReadAudit => needs(principal, &[Scope::Admin]),
        Action::ManageTenants => needs(principal, &[Scope::Operator]),
    }
}

/// Nobody may come in, but whoever shows a key must show one that may invoke: an admin key left in a caller's
/// configuration is a mistake to be told, not to be served.
fn public_door(principal: &Principal) -> Decision {
    match principal {
        Principal::Anonymous => Decision::Allow,
        Principal::Key { .. } | Principal::Token { .. } | Principal::Operator { .. } => {
            needs(principal, &[Scope::Invoke])
        }
    }
}

fn own_or(principal: &Principal, owner: &Caller, scopes: &[Scope]) -> Decision {
    let own = principal.caller() == *owner;
    let wider = scopes.iter().any(|scope| principal.has(*scope));
    if own || wider { Decision::Allow } else { Decision::Deny(Denial::Hidden) }
}

fn needs(principal: &Principal, any_of: &[Scope]) -> Decision {
    match (principal, any_of) {
        (Principal::Anonymous, _) => Decision::Deny(Denial::NeedsKey),
        (_, scopes) if scopes.iter().any(|scope| principal.has(*scope)) => Decision::Allow,
        (_, [first, ..]) => Decision::Deny(Denial::NeedsScope(*first)),
        (_, []) => Decision::Deny(Denial::NeedsKey),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleat_domain::{KeyLimits, Scopes, TenantId};

    fn key(scopes: &[Scope]) -> Principal {
        let tenant: TenantId = TenantId::from_row(Default::default());
        Principal::Key {
            id: "k1".into(),
            tenant,
            scopes: Scopes::of(scopes.iter().copied()),
            limits: KeyLimits::default(),
        }
    }

    #[test]
    fn a_public_skill_needs_no_key_but_a_wrong_key_is_refused() {
        let action = Action::Invoke(Visibility::Public);
        assert_eq!(decide(&Principal::Anonymous, action), Decision::Allow);
        assert_eq!(decide(&key(&[Scope::Invoke]), action), Decision::Allow);
        assert_eq!(decide(&key(&[Scope::Admin]), action), Decision::Deny(Denial::NeedsScope(Scope::Invoke)));
    }

    #[test]
    fn an_unlisted_skill_does_not_exist_for_nobody() {
        assert_eq!(decide(&Principal::Anonymous, Action::Invoke(Visibility::Unlisted)), Decision::Deny(Denial::Hidden));
        assert_eq!(decide(&Principal::Anonymous, Action::Invoke(Visibility::Listed)), Decision::Deny(Denial::NeedsKey));
    }

    #[test]
    fn callers_see_their_own_tasks_and_readers_all() {
        let owner = key(&[Scope::Invoke]).caller();
        assert_eq!(decide(&key(&[Scope::Invoke]), Action::ReadTask(&owner)), Decision::Allow);
        assert_eq!(decide(&Principal::Anonymous, Action::ReadTask(&owner)), Decision::Deny(Denial::Hidden));
        let reader = Principal::Key {
            id: "k2".into(),
            tenant: TenantId::from_row(Default::default()),
            scopes: Scopes::of([Scope::Read]),
            limits: KeyLimits::default(),
        };
        assert_eq!(decide(&reader, Action::ReadTask(&owner)), Decision::Allow);
        assert_eq!(decide(&reader, Action::CancelTask(&owner)), Decision::Deny(Denial::Hidden));
        assert_eq!(decide(&reader, Action::ContinueTask(&owner)), Decision::Deny(Denial::Hidden));
    }

    #[test]
    fn nobody_has_anybody_told_and_readers_do_not_choose_who_is() {
        assert_eq!(decide(&Principal::Anonymous, Action::UsePush), Decision::Deny(Denial::NeedsKey));
        assert_eq!(decide(&key(&[Scope::Read]), Action::UsePush), Decision::Deny(Denial::NeedsScope(Scope::Invoke)));
        let other = Caller::from_stored("key:k2".into());
        assert_eq!(
            decide(&key(&[Scope::Invoke, Scope::Read]), Action::ChangePush(&other)),
            Decision::Deny(Denial::Hidden)
        );
        assert_eq!(decide(&key(&[Scope::Deploy]), Action::ChangePush(&other)), Decision::Allow);
    }

    #[test]
    fn no_scope_stands_in_for_another() {
        assert_eq!(decide(&key(&[Scope::Admin]), Action::Deploy), Decision::Deny(Denial::NeedsScope(Scope::Deploy)));
        assert_eq!(decide(&key(&[Scope::Invoke]), Action::ReadTenant), Decision::Deny(Denial::NeedsScope(Scope::Read)));
        assert_eq!(
            decide(&key(&[Scope::Admin, Scope::Deploy]), Action::ManageTenants),
            Decision::Deny(Denial::NeedsScope(Scope::Operator))
        );
    }
}
