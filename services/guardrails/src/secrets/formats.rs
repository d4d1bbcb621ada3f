//! What keys of the common providers look like: how they begin, of what characters they are, how long they are.

use std::sync::LazyLock;

/// The characters of a key behind its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// `A-Z 0-9`
    Upper,
    /// `0-9 a-f`
    Hex,
    /// `A-Z a-z 0-9`
    Plain,
    /// `A-Z a-z 0-9 _ -`
    Word,
    /// The same with `.`
    Dotted,
    /// `A-Z a-z 0-9 + / =`
    Base64,
}

impl Body {
    pub(super) const fn has(self, byte: u8) -> bool {
        match self {
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            Self::Plain => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
        }
    }
}

#[derive(Debug)]
pub(super) struct Format {
    pub(super) prefix: &'static str,
    pub(super) rule: &'static str,
    pub(super) body: Body,
    pub(super) fewest: usize,
    pub(super) most: usize,
}

const fn format(prefix: &'static str, rule: &'static str, body: Body, fewest: usize, most: usize) -> Format {
    Format { prefix, rule, body, fewest, most }
}

/// Rules of clouds.
pub(super) const CLOUDS: &[&str] =
    &["aws", "google", "azure", "digitalocean", "alibaba", "tencent", "cloudflare", "heroku", "scaleway", "fly"];

pub(super) const FORMATS: &[Format] = &[
    format("AKIA", "aws", Body::Upper, 16, 16),
    format("ASIA", "aws", Body::Upper, 16, 16),
    format("ABIA", "aws", Body::Upper, 16, 16),
    format("ACCA", "aws", Body::Upper, 16, 16),
    format("AIza", "google", Body::Word, 35, 35),
    format("GOCSPX-", "google", Body::Word, 24, 40),
    format("ya29.", "google", Body::Word, 20, 1024),
    format("AccountKey=", "azure", Body::Base64, 80, 96),
    format("SharedAccessKey=", "azure", Body::Base64, 40, 96),
    format("dop_v1_", "digitalocean", Body::Hex, 64, 64),
    format("doo_v1_", "digitalocean", Body::Hex, 64, 64),
    format("LTAI", "alibaba", Body::Plain, 12, 24),
    format("AKID", "tencent", Body::Plain, 32, 32),
    format("SCW", "scaleway", Body::Upper, 17, 17),
    format("v1.0-", "cloudflare", Body::Word, 171, 171),
    format("fo1_", "fly", Body::Word, 40, 64),
    format("fm2_", "fly", Body::Base64, 80, 1024),
    format("HRKU-", "heroku", Body::Word, 36, 72),
    format("ghp_", "github", Body::Plain, 36, 255),
    format("gho_", "github", Body::Plain, 36, 255),
    format("ghu_", "github", Body::Plain, 36, 255),
    format("ghs_", "github", Body::Plain, 36, 255),
    format("ghr_", "github", Body::Plain, 36, 255),
    format("github_pat_", "github", Body::Word, 60, 255),
    format("glpat-", "gitlab", Body::Word, 20, 64),
    format("glptt-", "gitlab", Body::Word, 40, 64),
    format("gldt-", "gitlab", Body::Word, 20, 64),
    format("xoxb-", "slack", Body::Word, 20, 255),
    format("xoxp-", "slack", Body::Word, 20, 255),
    format("xoxa-", "slack", Body::Word, 20, 255),
    format("xoxr-", "slack", Body::Word, 20, 255),
    format("xoxs-", "slack", Body::Word, 20, 255),
    format("xapp-", "slack", Body::Word, 20, 255),
    format("sk_live_", "stripe", Body::Plain, 16, 247),
    format("sk_test_", "stripe", Body::Plain, 16, 247),
    format("rk_live_", "stripe", Body::Plain, 16, 247),
    format("rk_test_", "stripe", Body::Plain, 16, 247),
    format("whsec_", "stripe", Body::Plain, 24, 64),
    format("sk-ant-", "anthropic", Body::Word, 24, 200),
    format("sk-proj-", "openai", Body::Word, 32, 255),
    format("sk-svcacct-", "openai", Body::Word, 32, 255),
    format("sk-or-v1-", "openrouter", Body::Hex, 64, 64),
    format("sk-", "openai", Body::Plain, 32, 64),
    format("gsk_", "groq", Body::Plain, 40, 64),
    format("xai-", "xai", Body::Plain, 60, 96),
    format("pplx-", "perplexity", Body::Plain, 40, 64),
    format("r8_", "replicate", Body::Plain, 37, 40),
    format("hf_", "huggingface", Body::Plain, 30, 40),
    format("SG.", "sendgrid", Body::Dotted, 60, 72),
    format("SK", "twilio", Body::Hex, 32, 32),
    format("AC", "twilio", Body::Hex, 32, 32),
    format("key-", "mailgun", Body::Hex, 32, 32),
    format("npm_", "npm", Body::Plain, 36, 36),
    format("pypi-", "pypi", Body::Word, 50, 255),
    format("rubygems_", "rubygems", Body::Hex, 48, 48),
    format("shpat_", "shopify", Body::Plain, 32, 32),
    format("shpca_", "shopify", Body::Plain, 32, 32),
    format("shppa_", "shopify", Body::Plain, 32, 32),
    format("shpss_", "shopify", Body::Plain, 32, 32),
    format("dapi", "databricks", Body::Hex, 32, 32),
    format("lin_api_", "linear", Body::Plain, 32, 48),
    format("ntn_", "notion", Body::Plain, 40, 50),
    format("secret_", "notion", Body::Plain, 43, 43),
    format("PMAK-", "postman", Body::Word, 50, 64),
    format("glsa_", "grafana", Body::Word, 32, 48),
    format("glc_", "grafana", Body::Base64, 32, 400),
    format("dp.pt.", "doppler", Body::Plain, 40, 48),
    format("hvs.", "vault", Body::Word, 20, 200),
    format("hvb.", "vault", Body::Word, 20, 400),
    format("NRAK-", "newrelic", Body::Upper, 27, 27),
    format("dt0c01.", "dynatrace", Body::Dotted, 80, 96),
    format("ATATT3", "atlassian", Body::Word, 80, 255),
    format("sbp_", "supabase", Body::Hex, 40, 40),
    format("nfp_", "netlify", Body::Plain, 36, 40),
    format("pscale_tkn_", "planetscale", Body::Word, 32, 64),
    format("pscale_pw_", "planetscale", Body::Word, 32, 64),
    format("figd_", "figma", Body::Word, 38, 48),
    format("sntrys_", "sentry", Body::Base64, 40, 400),
    format("sq0atp-", "square", Body::Word, 22, 22),
    format("sq0csp-", "square", Body::Word, 43, 43),
    format("EAAA", "square", Body::Word, 60, 60),
    format("AGE-SECRET-KEY-1", "age", Body::Upper, 58, 58),
    format("tskey-", "tailscale", Body::Word, 20, 80),
    format("dckr_pat_", "docker", Body::Word, 27, 40),
    format("ATCTT3", "bitbucket", Body::Word, 80, 255),
    format("pat-na1-", "hubspot", Body::Word, 36, 36),
    format("rdme_", "readme", Body::Plain, 70, 70),
    format("oy2", "nuget", Body::Plain, 43, 43),
    format("plt_", "pleat", Body::Word, 32, 128),
];

/// Which formats begin with a byte, in their order.
static STARTING: LazyLock<Vec<Vec<usize>>> = LazyLock::new(|| {
    let begins = |byte: usize| {
        move |(at, format): (usize, &Format)| {
            (format.prefix.as_bytes().first().map(|first| *first as usize) == Some(byte)).then_some(at)
        }
    };
    (0..256).map(|byte| FORMATS.iter().enumerate().filter_map(begins(byte)).collect()).collect()
});

pub(super) fn starting(byte: u8) -> &'static [usize] {
    STARTING.get(byte as usize).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::keys;

    /// As many characters of a body as are asked for, no two neighbours alike.
    fn body(kind: Body, length: usize) -> String {
        let alphabet: Vec<char> =
            (' '..='~').filter(|one| kind.has(*one as u8) && one.is_ascii_alphanumeric()).collect();
        (0..length).map(|at| alphabet[at * 7 % alphabet.len()]).collect()
    }

    #[test]
    fn every_format_is_found_under_its_own_rule_and_not_when_it_is_too_short() {
        for format in FORMATS {
            let rules = |length: usize| -> Vec<&str> {
                let text = format!("{}{}", format.prefix, body(format.body, length));
                keys(&text).into_iter().map(|(.., rule)| rule).collect()
            };
            assert_eq!(rules(format.fewest), [format.rule], "{}", format.prefix);
            assert_eq!(rules(format.most), [format.rule], "{}", format.prefix);
            assert!(!rules(format.fewest - 1).contains(&format.rule), "{}", format.prefix);
        }
    }

    #[test]
    fn every_cloud_has_a_format() {
        for cloud in CLOUDS {
            assert!(FORMATS.iter().any(|format| format.rule == *cloud), "{cloud}");
        }
    }
}
