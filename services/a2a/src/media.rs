//! Media types of parts: any that somebody could know is handed to the function, a private one that nobody does is not.

use pleat_domain::content::Block;
use pleat_domain::message::Message;

const TOP: [&str; 9] = ["application", "text", "image", "audio", "video", "font", "model", "message", "multipart"];

/// Not registered and in common use all the same.
const COMMON: [&str; 20] = [
    "x-7z-compressed",
    "x-bzip2",
    "x-csv",
    "x-gzip",
    "x-icon",
    "x-ipynb+json",
    "x-javascript",
    "x-jsonlines",
    "x-markdown",
    "x-ndjson",
    "x-parquet",
    "x-pdf",
    "x-python",
    "x-rar-compressed",
    "x-sh",
    "x-sqlite3",
    "x-tar",
    "x-wav",
    "x-yaml",
    "x-zip-compressed",
];

/// The first media type in a message that nobody knows.
pub fn unknown(message: &Message) -> Option<&str> {
    message.content.iter().filter_map(of_block).find(|kind| !is_known(kind))
}

fn of_block(block: &Block) -> Option<&str> {
    match block {
        Block::Image { mime_type, .. } | Block::Audio { mime_type, .. } => Some(mime_type),
        Block::ResourceLink { mime_type, .. } => mime_type.as_deref(),
        Block::Resource { resource, .. } => resource.mime_type.as_deref(),
        Block::Text { extra, .. } | Block::Data { extra, .. } => extra.get("mimeType")?.as_str(),
        _ => None,
    }
}

fn is_known(kind: &str) -> bool {
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let Some((top, sub)) = essence.split_once('/') else { return false };
    let plain = sub.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte));
    TOP.contains(&top) && !sub.is_empty() && plain && (!sub.starts_with("x-") || COMMON.contains(&sub))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_could_know_is_known() {
        for kind in
            ["text/plain; charset=utf-8", "image/PNG", "application/vnd.ms-excel", "application/x-tar", "font/woff2"]
        {
            assert!(is_known(kind), "{kind}");
        }
        for kind in
            ["", "text", "text/", "/plain", "chemical/x-pdb", "application/x-nobody-knows", "a b/c", "text/a b", "x/y"]
        {
            assert!(!is_known(kind), "{kind}");
        }
    }
}
