//! Prompts: what functions offer, and one for each function that carries its examples.

use serde_json::json;

use super::{Client, Modern};
use crate::harness::TestServer;

const POET: &str = r#"
    export const description = "Writes poems";
    export const examples = [{ about: "rain" }];
    export const prompts = [
      { name: "poem", description: "A poem", arguments: [
        { name: "about", required: true, values: ["rain", "rails", "sun"] }, { name: "mood" }] },
      { name: "asks", description: "Needs to know more" }];
    export default () => "…";
    export function getPrompt(name, values, ctx) {
      if (name === "asks" && !ctx.reply) return {
        inputRequests: { who: { method: "elicitation/create", params: { message: "for whom?" } } }, state: { kept: 1 } };
      const text = name === "asks" ? JSON.stringify([ctx.reply, ctx.state]) : `A poem about ${values.about}`;
      return { messages: [{ role: "user", content: { type: "text", text } }] };
    }"#;

async fn poet() -> TestServer {
    let server = TestServer::start().await;
    server.deploy("poet.js", POET, "&visibility=public").await;
    server
}

#[tokio::test]
async fn prompts_are_listed_got_and_completed() {
    let server = poet().await;
    let client = Client::open(&server, json!({})).await;
    insta::assert_json_snapshot!(client.result("prompts/list", json!({})).await);
    let got = client.result("prompts/get", json!({ "name": "poem", "arguments": { "about": "rain" } })).await;
    assert_eq!(got["messages"][0]["content"]["text"], "A poem about rain");
    let missing = client.ask("prompts/get", json!({ "name": "poem" })).await;
    assert_eq!(missing["error"]["message"], "the argument `about` is missing");
    let used =
        client.result("prompts/get", json!({ "name": "use-poet", "arguments": { "request": "a sonnet" } })).await;
    let text = used["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains(r#"{"about":"rain"}"#) && text.contains("a sonnet"), "{text}");
    let ask =
        json!({ "ref": { "type": "ref/prompt", "name": "poem" }, "argument": { "name": "about", "value": "ra" } });
    assert_eq!(client.result("completion/complete", ask).await["completion"]["values"], json!(["rain", "rails"]));
}

#[tokio::test]
async fn a_prompt_can_ask_for_more_before_it_is_given() {
    let server = poet().await;
    let client = Modern::new(&server, json!({ "elicitation": {} }));
    let asked = client.result("prompts/get", json!({ "name": "asks" })).await;
    assert_eq!(
        (&asked["resultType"], &asked["inputRequests"]["who"]["method"]),
        (&json!("input_required"), &json!("elicitation/create"))
    );
    // A state is good for this caller and this prompt, unchanged.
    let state = asked["requestState"].as_str().unwrap();
    let changed = format!("{}{}", &state[..state.len() - 4], "AAAA");
    for (who, name, state) in [
        (client.clone(), "asks", changed.as_str()),
        (client.clone(), "asks", ""),
        (client.clone(), "poem", state),
        (client.clone().with_key(&server.invoke), "asks", state),
    ] {
        let mut given = json!({ "name": name, "requestState": state, "inputResponses": {} });
        if name == "poem" {
            given["arguments"] = json!({ "about": "rain" });
        }
        let (_, refused) = who.ask("prompts/get", given).await;
        assert_eq!(refused["error"]["code"], -32602, "{name} {state}: {refused}");
        assert!(refused["error"]["message"].as_str().unwrap().starts_with("`requestState`"), "{refused}");
    }
    let again = json!({ "name": "asks", "requestState": asked["requestState"],
        "inputResponses": { "who": { "action": "accept", "content": { "name": "Ada" } } } });
    let got = client.result("prompts/get", again).await;
    let text = got["messages"][0]["content"]["text"].as_str().unwrap();
    assert_eq!(text, r#"[{"who":{"action":"accept","content":{"name":"Ada"}}},{"kept":1}]"#);
    let unable = Modern::new(&server, json!({}));
    let (status, answer) = unable.ask("prompts/get", json!({ "name": "asks" })).await;
    assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32021)), "{answer}");
}
