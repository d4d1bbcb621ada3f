//! Several files: gathered by the command line, checked by the server, loaded by the engine.

use serde_json::{Value, json};

use crate::harness::TestServer;
use crate::harness::binary::{self, Ran};
use crate::harness::dev::Dev;
use crate::harness::project;

fn bundle(entry: &str, files: &[(&str, &str)]) -> Vec<u8> {
    let files: serde_json::Map<String, Value> =
        files.iter().map(|(path, text)| ((*path).to_owned(), json!(text))).collect();
    json!({ "entry": entry, "files": files }).to_string().into_bytes()
}

#[tokio::test]
async fn files_import_each_other_and_keep_their_names() {
    let server = TestServer::start().await;
    let files = bundle(
        "shop.ts",
        &[
            (
                "shop.ts",
                "import { total } from './lib/sum.js';\nimport prices from './data/prices.json' with { type: 'json' };\nimport type { Price } from './lib/types.ts';\nexport default async (input: string[]): Promise<number> => {\n  const { round } = await import('./lib/round.mjs');\n  return round(total(input.map((name) => prices[name] as Price)));\n};\n",
            ),
            (
                "lib/sum.ts",
                "import { check } from '../lib/check.js';\nexport const total = (list: number[]): number => list.reduce((a, b) => a + check(b), 0);\n",
            ),
            (
                "lib/check.js",
                "export function check(value) {\n  if (typeof value !== 'number') throw new TypeError('no price');\n  return value;\n}\n",
            ),
            ("lib/round.mjs", "export const round = (n) => Math.round(n * 100) / 100;\n"),
            ("data/prices.json", "{\"tea\": 1.5, \"cake\": 2.25, \"__proto__\": 3}"),
        ],
    );
    let deployed = server.deploy("shop.ts.bundle", files.clone(), "&visibility=public").await;
    assert_eq!(deployed["name"], "shop", "{deployed}");
    assert_eq!(server.http("", "shop", json!(["tea", "cake"])).await, (200, json!(3.75)));
    let (_, body) = server.http(&server.admin, "shop", json!(["soap"])).await;
    let task = server.task(body["taskId"].as_str().unwrap()).await.to_string();
    for frame in ["lib/check.js:2:", "lib/sum.ts:2:", "shop.ts:6:"] {
        assert!(task.contains(frame), "{frame} is not in {task}");
    }
    let again = server.deploy("shop.ts.bundle", files, "&visibility=public").await;
    assert_eq!(again["version"], deployed["version"], "the same files are the same version");
}

#[tokio::test]
async fn a_bad_bundle_is_refused_with_the_reason() {
    let server = TestServer::start().await;
    let many: Vec<(String, String)> = (0..257).map(|n| (format!("f{n}.js"), String::new())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let long = "x".repeat((1 << 20) + 1);
    let rows = [
        (b"nonsense".to_vec(), "the bundle is not a JSON document"),
        (bundle("a.js", &[("b.js", "")]), "the bundle's entry `a.js` is not among its files"),
        (bundle("../a.js", &[("../a.js", "")]), "`../a.js` is not a plain relative path"),
        (bundle("/etc/a.js", &[("/etc/a.js", "")]), "`/etc/a.js` is not a plain relative path"),
        (bundle("a\\b.js", &[("a\\b.js", "")]), "has a character that a path must not have"),
        (bundle("a.js", &[("a.js", ""), ("b.exe", "")]), "`b.exe` is not a script"),
        (bundle("f0.js", &many), "the bundle has 257 files; the most is 256"),
        (
            bundle("a.js", &[("a.js", &long)]),
            "the files of the bundle have 1048577 bytes together; the most is 1048576",
        ),
        (br#"{"entry":"a.js","files":{"a.js":"1","a.js":"2"}}"#.to_vec(), "occurs twice"),
        (
            bundle("a.js", &[("a.js", "import './b.js';\nexport default () => 1;"), ("b.js", "export const x = ;\n")]),
            "b.js:1:18: SyntaxError",
        ),
        (
            bundle(
                "a.js",
                &[("a.js", "import { y } from './b.js';\nexport default () => y;"), ("b.js", "export const x = 1;\n")],
            ),
            "y",
        ),
        (
            bundle("a.js", &[("a.js", "import x from './b.json';\nexport default () => x;"), ("b.json", "{nope}")]),
            "`b.json` is not valid JSON",
        ),
        (
            bundle("a.js", &[("a.js", "import './lib/b';\nexport default () => 1;"), ("lib/b.js", "")]),
            "write the extension: `lib/b.js`",
        ),
        (
            bundle(
                "a.js",
                &[("a.js", "import './b.js';\nexport default () => 1;"), ("b.js", "throw new Error('in b');\n")],
            ),
            "b.js:1:11: Error: in b",
        ),
    ];
    for (bytes, words) in rows {
        let (status, body) = server.try_deploy("a.js.bundle", bytes, "").await;
        let message = body["error"]["message"].as_str().unwrap_or_default();
        assert!(status == 422 && message.contains(words), "{words}\n{status} {body}");
    }
}

struct Project {
    dev: &'static Dev,
    key: String,
    files: tempfile::TempDir,
}

impl Project {
    async fn new(slug: &str) -> Self {
        let dev = Dev::shared().await;
        let made = dev.pleat(&["tenants", "create", slug, "--json"]).await.ok().json();
        Self { dev, key: made["adminKey"].as_str().unwrap().to_owned(), files: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.files.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        project::write(self.files.path(), name, text)
    }

    async fn pleat(&self, arguments: &[&str]) -> Ran {
        let mut command = self.dev.command(arguments);
        command.env("PLEAT_KEY", &self.key);
        binary::run(&mut command).await
    }
}

#[tokio::test]
async fn deploy_gathers_what_is_imported() {
    let project = Project::new("bundle-cli").await;
    project.file("package.json", "{}");
    project.file("shared/words.ts", "export const words: string[] = ['hello'];\n");
    project.file(
        "src/lib/greet.js",
        "import { words } from '../../shared/words.ts';\nexport const greet = (name) => `${words[0]} ${name}`;\n",
    );
    let entry = project.file(
        "src/greeter.ts",
        "import { greet } from './lib/greet.js';\nexport default (input: { name: string }) => greet(input.name);\n",
    );
    let deployed = project.pleat(&["deploy", &entry]).await.ok();
    assert!(deployed.stdout.starts_with("greeter v1 "), "{deployed:?}");
    let called = project.pleat(&["call", "greeter", r#"{"name":"Ada"}"#]).await.ok();
    assert_eq!(called.stdout, "hello Ada\n");
    let again = project.pleat(&["deploy", &entry]).await.ok();
    assert!(again.stderr.contains("unchanged"), "{again:?}");
}

#[tokio::test]
async fn what_cannot_be_gathered_is_said() {
    let project = Project::new("bundle-refused").await;
    project.file("outside.js", "export default 1;\n");
    let missing = project.file("one/a.js", "import x from './gone.js';\nexport default () => x;\n");
    project.pleat(&["deploy", &missing]).await.failed(1).says(&[
        "a.js:1:15: ",
        "cannot import `./gone.js`: there is no file `gone.js` among those deployed",
        "import x from './gone.js'",
    ]);
    let above = project.file("one/b.js", "import x from '../outside.js';\nexport default () => x;\n");
    project
        .pleat(&["deploy", &above])
        .await
        .failed(1)
        .says(&["lies outside of the function's project", "hint: keep what a function imports below"]);
    let bare = project.file("one/c.js", "import x from 'lodash';\nexport default () => x;\n");
    project
        .pleat(&["deploy", &bare])
        .await
        .failed(1)
        .says(&["cannot import `lodash`: packages and URLs are not available"]);
}
