//! What can be found: the kinds of findings, the check each belongs to, and the words for them.

use crate::policy::CheckType;

/// What a finding is. The order is the order of precedence where findings overlap: the first wins the placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    PrivateKey,
    ApiKey,
    Token,
    Password,
    Card,
    Iban,
    Ssn,
    Itin,
    Wallet,
    Email,
    Ip,
    Mac,
    NationalId,
    Phone,
    Denied,
    Pattern,
    Url,
    Toxicity,
    Injection,
    Invisible,
    Bidi,
    Confusable,
    Schema,
    Tokens,
    Size,
}

impl Kind {
    pub const ALL: [Self; 25] = [
        Self::PrivateKey,
        Self::ApiKey,
        Self::Token,
        Self::Password,
        Self::Card,
        Self::Iban,
        Self::Ssn,
        Self::Itin,
        Self::Wallet,
        Self::Email,
        Self::Ip,
        Self::Mac,
        Self::NationalId,
        Self::Phone,
        Self::Denied,
        Self::Pattern,
        Self::Url,
        Self::Toxicity,
        Self::Injection,
        Self::Invisible,
        Self::Bidi,
        Self::Confusable,
        Self::Schema,
        Self::Tokens,
        Self::Size,
    ];

    /// The word in placeholders, as `EMAIL` in `[EMAIL_1]`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::PrivateKey => "PRIVATE_KEY",
            Self::ApiKey => "API_KEY",
            Self::Token => "TOKEN",
            Self::Password => "PASSWORD",
            Self::Card => "CARD",
            Self::Iban => "IBAN",
            Self::Ssn => "SSN",
            Self::Itin => "ITIN",
            Self::Wallet => "WALLET",
            Self::Email => "EMAIL",
            Self::Ip => "IP",
            Self::Mac => "MAC",
            Self::NationalId => "NATIONAL_ID",
            Self::Phone => "PHONE",
            Self::Denied => "DENIED",
            Self::Pattern => "PATTERN",
            Self::Url => "URL",
            Self::Toxicity => "TOXICITY",
            Self::Injection => "INJECTION",
            Self::Invisible => "INVISIBLE",
            Self::Bidi => "BIDI",
            Self::Confusable => "CONFUSABLE",
            Self::Schema => "SCHEMA",
            Self::Tokens => "TOKENS",
            Self::Size => "SIZE",
        }
    }

    /// The word in policies (`config.types`) and in rules, as `email` in `pii.email`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PrivateKey => "private-key",
            Self::ApiKey => "api-key",
            Self::Token => "token",
            Self::Password => "password",
            Self::Card => "card",
            Self::Iban => "iban",
            Self::Ssn => "ssn",
            Self::Itin => "itin",
            Self::Wallet => "wallet",
            Self::Email => "email",
            Self::Ip => "ip",
            Self::Mac => "mac",
            Self::NationalId => "national-id",
            Self::Phone => "phone",
            Self::Denied => "denied",
            Self::Pattern => "pattern",
            Self::Url => "url",
            Self::Toxicity => "toxicity",
            Self::Injection => "injection",
            Self::Invisible => "invisible",
            Self::Bidi => "bidi",
            Self::Confusable => "confusable",
            Self::Schema => "schema",
            Self::Tokens => "tokens",
            Self::Size => "size",
        }
    }

    pub(crate) const fn bit(self) -> u32 {
        1 << self as u8
    }
}

/// A set of kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kinds(u32);

impl Kinds {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const PII: Self = Self(
        Kind::Card.bit()
            | Kind::Iban.bit()
            | Kind::Ssn.bit()
            | Kind::Itin.bit()
            | Kind::Wallet.bit()
            | Kind::Email.bit()
            | Kind::Ip.bit()
            | Kind::Mac.bit()
            | Kind::NationalId.bit()
            | Kind::Phone.bit()
            | Kind::ApiKey.bit(),
    );
    pub(crate) const SECRETS: Self =
        Self(Kind::PrivateKey.bit() | Kind::ApiKey.bit() | Kind::Token.bit() | Kind::Password.bit());
    pub(crate) const UNICODE: Self = Self(Kind::Invisible.bit() | Kind::Bidi.bit() | Kind::Confusable.bit());

    pub(crate) const fn has(self, kind: Kind) -> bool {
        self.0 & kind.bit() != 0
    }

    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn with(self, kind: Kind) -> Self {
        Self(self.0 | kind.bit())
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, kind: Kind) -> Self {
        Self(self.0 & !kind.bit())
    }

    pub(crate) fn without_all(self, kinds: &[Kind]) -> Self {
        kinds.iter().fold(self, |rest, kind| rest.without(*kind))
    }

    /// What of these a check of this type may be asked for.
    pub(crate) const fn of(check: CheckType) -> Self {
        match check {
            CheckType::Pii => Self::PII,
            CheckType::Secrets => Self::SECRETS,
            CheckType::Unicode => Self::UNICODE,
            CheckType::PromptInjection => Self(Kind::Injection.bit()),
            CheckType::Toxicity => Self(Kind::Toxicity.bit()),
            CheckType::Regex => Self(Kind::Pattern.bit()),
            CheckType::Denylist => Self(Kind::Denied.bit()),
            CheckType::Url => Self(Kind::Url.bit()),
            CheckType::JsonSchema => Self(Kind::Schema.bit()),
            CheckType::MaxTokens => Self(Kind::Tokens.bit()),
            CheckType::MaxSize => Self(Kind::Size.bit()),
        }
    }
}
