//! Envelopes in, envelopes out, and each way to get one wrong.

use insta::assert_snapshot;
use serde_json::json;

use super::*;

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn fault(request: &[u8]) -> String {
    text(Request::parse(request).unwrap_err().body())
}

#[test]
fn a_request_keeps_its_id_and_params_byte_for_byte() {
    for id in ["1", "-7", "1.50", "1e3", r#""a\u0062 \"c""#, "null", "123456789012345678901234567890"] {
        let body = format!(r#" {{"params": {{"x" : 1.0}}, "method":"tasks/get", "id": {id}, "jsonrpc":"2.0"}}"#);
        let request = Request::parse(body.as_bytes()).unwrap();
        assert_eq!(request.id.get(), id);
        assert_eq!(request.method, "tasks/get");
        assert_eq!(request.params.unwrap().get(), r#"{"x" : 1.0}"#);
        assert_eq!(text(response(&request.id, &json!(1))), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":1}}"#));
    }
}

#[test]
fn a_request_without_an_id_is_answered_under_null() {
    let request = Request::parse(br#"{"jsonrpc":"2.0","method":"tasks/get","params":null}"#).unwrap();
    assert_eq!(request.id.get(), "null");
    assert!(request.params.is_none());
}

#[test]
fn what_is_no_json_is_a_parse_error() {
    assert_snapshot!(fault(b"{\"jsonrpc\": "), @r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not valid JSON: EOF while parsing a value at line 1 column 12"}}"#);
    assert_snapshot!(fault(b""), @r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not valid JSON: EOF while parsing a value at line 1 column 0"}}"#);
    assert_snapshot!(fault(b"\"\xff\""), @r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the text is not UTF-8"}}"#);
    assert_snapshot!(fault(br#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#), @r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the key `method` occurs twice in one object"}}"#);
    assert_snapshot!(fault(format!("{}{}", "[".repeat(65), "]".repeat(65)).as_bytes()), @r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"nested more than 64 deep"}}"#);
    assert_snapshot!(fault(format!("[{}1]", "1,".repeat(250_000)).as_bytes()), @r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"more than 250000 values"}}"#);
}

#[test]
fn each_fault_of_an_envelope_is_named() {
    assert_snapshot!(fault(br#"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#), @r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch requests are not supported; send one request at a time"}}"#);
    assert_snapshot!(fault(b"3"), @r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a request must be a JSON object with `jsonrpc`, `id`, `method` and `params`"}}"#);
    assert_snapshot!(fault(br#"{"id":1,"method":"a"}"#), @r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"`jsonrpc` must be \"2.0\""}}"#);
    assert_snapshot!(fault(br#"{"jsonrpc":"1.0","id":1,"method":"a"}"#), @r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"`jsonrpc` must be \"2.0\""}}"#);
    assert_snapshot!(fault(br#"{"jsonrpc":2.0,"id":1,"method":"a"}"#), @r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"`jsonrpc` must be \"2.0\""}}"#);
    assert_snapshot!(fault(br#"{"jsonrpc":"2.0","id":"x"}"#), @r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32600,"message":"`method` must be a string"}}"#);
    assert_snapshot!(fault(br#"{"jsonrpc":"2.0","id":"x","method":7}"#), @r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32600,"message":"`method` must be a string"}}"#);
    assert_snapshot!(fault(br#"{"jsonrpc":"2.0","id":"x","method":"a","params":"b"}"#), @r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32602,"message":"`params` must be an object or an array"}}"#);
}

#[test]
fn an_id_is_a_short_scalar() {
    for id in ["{}", "[1]", "true", &format!("\"{}\"", "x".repeat(1023))] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"a"}}"#);
        let fault = Request::parse(body.as_bytes()).unwrap_err();
        assert_eq!((fault.cause.clone(), fault.id.get(), fault.code()), (BadRequest::Id, "null", -32600), "{id}");
    }
}

#[test]
fn an_error_may_carry_data() {
    let body = error(RawValue::NULL, -32602, "no", Some(json!({"pointer": "/id"})));
    assert_snapshot!(text(body), @r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no","data":{"pointer":"/id"}}}"#);
}
