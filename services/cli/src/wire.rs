//! `--raw`: what goes over the wire, on stderr, and the same request as a line for the shell.
//!
//! The key is never shown: the line reads it from the environment.

use reqwest::header::{AUTHORIZATION, HeaderMap};
use reqwest::{Request, Response, Version};

use crate::output::{Output, clean};

pub struct Wire<'a> {
    output: &'a Output,
    /// Where the key was found, when it was not given.
    key_file: Option<&'a std::path::Path>,
}

impl<'a> Wire<'a> {
    pub const fn new(output: &'a Output, key_file: Option<&'a std::path::Path>) -> Self {
        Self { output, key_file }
    }

    pub fn request(&self, request: &Request, agent: &str) {
        let url = request.url();
        let path = url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
        let body = request.body().and_then(reqwest::Body::as_bytes).map(String::from_utf8_lossy).unwrap_or_default();
        let mut lines = vec![format!("{} {path} HTTP/1.1", request.method())];
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        lines.push(format!("host: {}{port}", url.host_str().unwrap_or_default()));
        lines.push(format!("user-agent: {agent}"));
        lines.extend(header_lines(request.headers()));
        if !body.is_empty() {
            lines.push(format!("content-length: {}", body.len()));
        }
        self.show("> ", &lines);
        self.text("> ", &body);
        self.curl(request, &body);
    }

    pub fn response(&self, response: &Response) {
        let version = if response.version() == Version::HTTP_2 { "HTTP/2" } else { "HTTP/1.1" };
        let mut lines = vec![format!("{version} {}", response.status())];
        lines.extend(header_lines(response.headers()));
        self.show("< ", &lines);
    }

    /// A body, or the frames of a stream as they come.
    pub fn answer(&self, text: &str) {
        self.text("< ", text);
    }

    /// Between the headers and a body is an empty line.
    fn show(&self, mark: &str, lines: &[String]) {
        for line in lines {
            self.output.complain(&format!("{mark}{}", clean(line)));
        }
        self.output.complain(mark.trim_end());
    }

    fn text(&self, mark: &str, text: &str) {
        for line in text.lines() {
            self.output.complain(format!("{mark}{}", clean(line)).trim_end());
        }
    }

    fn curl(&self, request: &Request, body: &str) {
        let mut parts = vec![format!("curl -sN -X {} {}", request.method(), quoted(request.url().as_str()))];
        for (name, value) in request.headers() {
            parts.push(match name {
                &AUTHORIZATION => "-H \"Authorization: Bearer $PLEAT_KEY\"".to_owned(),
                _ => format!("-H {}", quoted(&format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))),
            });
        }
        if !body.is_empty() {
            parts.push(format!("--data-raw {}", quoted(body)));
        }
        self.output.complain("\nthe same with curl:\n");
        if let Some(file) = self.key_file.filter(|_| request.headers().contains_key(AUTHORIZATION)) {
            let file = quoted(&file.display().to_string());
            self.output.complain(&format!(
                "  export PLEAT_KEY=$(sed -n 's/.*\"deploy_key\": \"\\([^\"]*\\)\".*/\\1/p' {file})"
            ));
        }
        self.output.complain(&format!("  {}\n", parts.join(" \\\n    ")));
    }
}

fn header_lines(headers: &HeaderMap) -> Vec<String> {
    let line = |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
        if value.is_sensitive() || name == AUTHORIZATION {
            return format!("{name}: Bearer ***");
        }
        format!("{name}: {}", String::from_utf8_lossy(value.as_bytes()))
    };
    headers.iter().map(line).collect()
}

/// For a shell: nothing inside single quotes means anything.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
