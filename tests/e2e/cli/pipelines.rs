//! `pleat pipeline`: from a file to a skill, and what is shown on the way.

use serde_json::json;

use super::Tenant;

const REPORT: &str = "\
# Says it twice.
name: report
description: Says it twice
steps:
  - {id: first, tool_name: probe}
  - {id: second, tool_name: probe, when: exists $input.never}
  - {id: third, tool_name: probe, input_mapping: {do: 'literal:echo', value: $steps.first}}
";

#[tokio::test]
async fn a_pipeline_is_deployed_run_shown_activated_and_archived() {
    let tenant = Tenant::with_probe("pipe-life").await;
    let file = tenant.file("report.pipeline.yaml", REPORT);
    let checked = tenant.pleat(&["pipeline", "deploy", &file, "--check"]).await.ok();
    assert_eq!(checked.stdout, "report has no faults\n");
    let ran = tenant.pleat(&["pipeline", "deploy", &file]).await.ok();
    assert!(ran.stdout.starts_with("report v1 draft http://"), "{ran:?}");
    let again = tenant.pleat(&["pipeline", "deploy", &file]).await.ok().says(&["unchanged"]);
    assert!(again.stdout.starts_with("report v1 draft"), "{again:?}");
    let input = r#"{"do":"echo","value":"hi"}"#;
    assert_eq!(tenant.pleat(&["pipeline", "run", "report", input]).await.ok().stdout, "hi\n");
    tenant.pleat(&["call", "pipeline:report", input]).await.failed(1).says(&["unknown skill `pipeline:report`"]);

    assert_eq!(tenant.pleat(&["pipeline", "activate", "report"]).await.ok().stdout, "report v1 active\n");
    assert_eq!(tenant.pleat(&["call", "pipeline:report", input]).await.ok().stdout, "hi\n");
    let list = tenant.pleat(&["pipeline", "list", "--state", "active"]).await.ok().stdout;
    assert!(list.lines().nth(1).unwrap().starts_with("report"), "{list}");
    assert_eq!(tenant.pleat(&["pipeline", "show", "report"]).await.ok().stdout, REPORT);
    let shown = tenant.pleat(&["pipeline", "show", "report", "--version", "1", "--json"]).await.ok().json();
    assert_eq!(shown["definition"]["steps"][0]["id"], "first");

    assert_eq!(tenant.pleat(&["pipeline", "archive", "report"]).await.ok().stdout, "report v1 archived\n");
    tenant.pleat(&["pipeline", "run", "report", input]).await.failed(1).says(&["unknown skill"]);
}

#[tokio::test]
async fn all_faults_are_shown_where_they_are() {
    let tenant = Tenant::with_probe("pipe-faults").await;
    let bad = "name: bad\nsteps:\n  - id: a\n    tool_name: prob\n  - id: a\n    tool_name: probe\n";
    let file = tenant.file("bad.pipeline.yaml", bad);
    let ran = tenant.pleat(&["pipeline", "deploy", &file]).await.failed(1);
    let ran = ran.says(&["has 2 faults", "bad.pipeline.yaml:4:16: there is no skill `prob`", "    tool_name: prob"]);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let at = lines.iter().position(|line| line.ends_with("tool_name: prob")).unwrap();
    assert_eq!(lines[at].find("prob"), lines[at + 1].find('^'), "{}", ran.stderr);
    assert!(lines[at + 2].contains("hint: "), "{}", ran.stderr);
    let json = tenant.pleat(&["pipeline", "deploy", &file, "--json"]).await.failed(1).stderr;
    let error: serde_json::Value = serde_json::from_str(json.trim()).unwrap();
    assert_eq!(error["error"]["code"], "invalid_pipeline");
    assert_eq!(error["error"]["faults"][0]["line"], 4, "{error}");
    let alone = tenant.pleat(&["pipeline", "graph", "-f", &file]).await.failed(1);
    alone.says(&["has 1 fault", "bad.pipeline.yaml:5:9"]);
}

#[tokio::test]
async fn a_file_is_drawn_and_explained_without_a_server() {
    let tenant = Tenant::with_probe("pipe-draw").await;
    let file = tenant.file("report.pipeline.yaml", REPORT);
    let elsewhere = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (vec!["graph", "-f", &file], "first"),
        (vec!["graph", "-f", &file, "--mermaid"], "flowchart"),
        (vec!["explain", "-f", &file], "Says it twice"),
    ] {
        let arguments: Vec<&str> = std::iter::once("pipeline").chain(arguments).collect();
        let ran = crate::harness::binary::run(&mut crate::harness::binary::command(elsewhere.path(), &arguments)).await;
        assert!(ran.ok().stdout.contains(words), "{arguments:?}");
    }
    tenant.pleat(&["pipeline", "deploy", &file]).await.ok();
    for verb in ["graph", "explain"] {
        let (mine, theirs) = (["pipeline", verb, "-f", &file], ["pipeline", verb, "report"]);
        let (mine, theirs) = (tenant.pleat(&mine).await.ok(), tenant.pleat(&theirs).await.ok());
        assert_eq!(mine.stdout, theirs.stdout, "{verb}");
    }
    tenant.pleat(&["pipeline", "graph"]).await.failed(2);
}

#[tokio::test]
async fn runs_are_listed_traced_streamed_and_replayed() {
    let tenant = Tenant::with_probe("pipe-runs").await;
    let file = tenant.file("report.pipeline.yaml", REPORT);
    tenant.pleat(&["pipeline", "deploy", &file, "--activate", "--public"]).await.ok();
    let input = r#"{"do":"echo","value":1}"#;
    let streamed = tenant.pleat(&["pipeline", "run", "report", input, "--stream"]).await.ok();
    let streamed = streamed.says(&["step first started", "step first finished", "step second skipped"]);
    assert_eq!(streamed.stdout, "1\n");
    let failed = tenant.pleat(&["pipeline", "run", "report", r#"{"do":"panic"}"#]).await.failed(3);
    failed.says(&["step `first` failed"]);

    let runs = tenant.pleat(&["pipeline", "runs", "report", "--json"]).await.ok().json();
    assert_eq!(runs["tasks"].as_array().unwrap().len(), 2);
    let failed = tenant.pleat(&["pipeline", "runs", "report", "--state", "failed"]).await.ok().stdout;
    assert!(failed.contains("step `first` failed"), "{failed}");
    let done = runs["tasks"].as_array().unwrap().iter().find(|run| run["state"] == "completed").unwrap();
    let id = done["id"].as_str().unwrap();
    let trace = tenant.pleat(&["tasks", "trace", id]).await.ok().stdout;
    let rows: Vec<Vec<&str>> = trace.lines().skip(1).map(|line| line.split_whitespace().take(2).collect()).collect();
    let expected = [["pipeline:report", "v1"], ["first#1", "probe"], ["third#1", "probe"], ["second", "skipped"]];
    assert_eq!(rows, expected.map(|row| row.to_vec()), "{trace}");

    let again = tenant.pleat(&["pipeline", "replay", id, "--from", "third"]).await.ok().stdout;
    tenant.pleat(&["tasks", "watch", again.trim()]).await.ok();
    let replayed = tenant.pleat(&["tasks", "get", again.trim(), "--json"]).await.ok().json();
    assert_eq!((&replayed["run"]["replayOf"], &replayed["run"]["from"]), (&json!(id), &json!("third")));
    tenant.pleat(&["pipeline", "replay", id, "--from", "nothing"]).await.failed(1).says(&["no step `nothing`"]);
}

#[tokio::test]
async fn a_change_that_active_pipelines_do_not_fit_is_warned_of() {
    let tenant = Tenant::with_probe("pipe-strain").await;
    let tool = |input: &str| {
        let input = format!("export const input = {{ type: 'object', required: ['{input}'] }};");
        tenant.file("tool.js", &format!("export const description = 'A tool'; {input} export default (x) => x;"))
    };
    tenant.pleat(&["deploy", &tool("m")]).await.ok();
    let user = "name: user\nsteps: [{id: a, tool_name: tool, input_mapping: {m: 'literal:1'}}]\n";
    let user = tenant.file("user.pipeline.yaml", user);
    tenant.pleat(&["pipeline", "deploy", &user, "--activate"]).await.ok();
    let warning = "warning: pipeline `user` does not fit any more";
    tenant.pleat(&["deploy", &tool("n")]).await.ok().says(&[warning]);
    tenant.pleat(&["delete", "tool"]).await.ok().says(&[warning]);
}
