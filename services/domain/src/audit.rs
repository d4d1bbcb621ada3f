//! Words of the audit log: which administrative actions there are, and what each acts on.

/// An administrative action, as the audit log names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AuditAction {
    TenantCreate,
    TenantPlan,
    TenantCard,
    TenantDelete,
    TenantRecoverKey,
    KeyCreate,
    KeyRevoke,
    IssuerAdd,
    IssuerKeys,
    IssuerDelete,
    FunctionDeploy,
    FunctionRollback,
    FunctionDelete,
    FunctionVisibility,
    GrantsChange,
    PipelineDeploy,
    PipelineActivate,
    PipelineArchive,
    GuardSet,
    GuardDelete,
    SecretSet,
    SecretDelete,
    SettingSet,
    SettingDelete,
    TaskCancel,
    PushRetry,
    CardKeyRotate,
    CardKeyRevoke,
    OperatorKeyCreate,
    OperatorKeyRotate,
    OperatorKeyRevoke,
    OperatorKeyRecover,
}

impl AuditAction {
    pub const ALL: [Self; 32] = [
        Self::TenantCreate,
        Self::TenantPlan,
        Self::TenantCard,
        Self::TenantDelete,
        Self::TenantRecoverKey,
        Self::KeyCreate,
        Self::KeyRevoke,
        Self::IssuerAdd,
        Self::IssuerKeys,
        Self::IssuerDelete,
        Self::FunctionDeploy,
        Self::FunctionRollback,
        Self::FunctionDelete,
        Self::FunctionVisibility,
        Self::GrantsChange,
        Self::PipelineDeploy,
        Self::PipelineActivate,
        Self::PipelineArchive,
        Self::GuardSet,
        Self::GuardDelete,
        Self::SecretSet,
        Self::SecretDelete,
        Self::SettingSet,
        Self::SettingDelete,
        Self::TaskCancel,
        Self::PushRetry,
        Self::CardKeyRotate,
        Self::CardKeyRevoke,
        Self::OperatorKeyCreate,
        Self::OperatorKeyRotate,
        Self::OperatorKeyRevoke,
        Self::OperatorKeyRecover,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TenantCreate => "tenant.create",
            Self::TenantPlan => "tenant.plan",
            Self::TenantCard => "tenant.card",
            Self::TenantDelete => "tenant.delete",
            Self::TenantRecoverKey => "tenant.recover_key",
            Self::KeyCreate => "key.create",
            Self::KeyRevoke => "key.revoke",
            Self::IssuerAdd => "issuer.add",
            Self::IssuerKeys => "issuer.keys",
            Self::IssuerDelete => "issuer.delete",
            Self::FunctionDeploy => "function.deploy",
            Self::FunctionRollback => "function.rollback",
            Self::FunctionDelete => "function.delete",
            Self::FunctionVisibility => "function.visibility",
            Self::GrantsChange => "grants.change",
            Self::PipelineDeploy => "pipeline.deploy",
            Self::PipelineActivate => "pipeline.activate",
            Self::PipelineArchive => "pipeline.archive",
            Self::GuardSet => "guard.set",
            Self::GuardDelete => "guard.delete",
            Self::SecretSet => "secret.set",
            Self::SecretDelete => "secret.delete",
            Self::SettingSet => "setting.set",
            Self::SettingDelete => "setting.delete",
            Self::TaskCancel => "task.cancel",
            Self::PushRetry => "push.retry",
            Self::CardKeyRotate => "card_key.rotate",
            Self::CardKeyRevoke => "card_key.revoke",
            Self::OperatorKeyCreate => "operator_key.create",
            Self::OperatorKeyRotate => "operator_key.rotate",
            Self::OperatorKeyRevoke => "operator_key.revoke",
            Self::OperatorKeyRecover => "operator_key.recover",
        }
    }

    /// Kind of the object that the action changes.
    pub fn target_kind(self) -> &'static str {
        match self {
            Self::GrantsChange => "function",
            Self::GuardSet | Self::GuardDelete => "guard_policy",
            action => action.as_str().split_once('.').map_or("", |(kind, _)| kind),
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::AuditAction;

    #[test]
    fn every_action_is_read_back_from_its_word() {
        for action in AuditAction::ALL {
            assert_eq!(AuditAction::parse(action.as_str()), Some(action));
            assert!(!action.target_kind().is_empty(), "{}", action.as_str());
        }
        assert_eq!(AuditAction::parse("key"), None);
    }
}
