//! TypeScript: types are taken away, and everything else stays where it stands.

use serde_json::json;

use crate::harness::TestServer;

const TYPED: &str = r#"import type { Nothing } from './nowhere';
export const description: string = 'Sums';
interface Input { numbers: number[]; unit?: string }
type Result<T extends object = {}> = { sum: number } & T;
declare const PLATFORM: string;
declare global { interface Array<T> { total(): number } }
abstract class Shape<T> implements Iterable<T> {
  private readonly sides!: T[];
  static count?: number = 0;
  declare phantom: string;
  [key: string]: any;
  constructor(protected_: number, public_?: string) { Shape.count = (Shape.count as number) + 1; }
  abstract area(): number;
  protected get name(): string { return 'shape' satisfies string; }
  *[Symbol.iterator](): Iterator<T> {}
  label(this: Shape<T>, prefix: string): string
  label(this: Shape<T>, prefix: string, suffix?: string): string { return `${prefix}${this.name}${suffix ?? ''}` }
}
class Square extends Shape<number> { override area() { return 4 } }
function pick<K extends string>(this: void, key: K, ...rest: unknown[]): K { return key }
const add = (a: number, b: number = 0): number => a + b
const long = async <T,>(value: T): Promise<
  T
> => value
let later: string
(globalThis as any).seen = 1
const list = [1, 2, 3] as const
;[4].forEach((n: number) => n!)
export default async function (input: Input, ctx: unknown): Promise<Result> {
  later = 'x';
  const first = input.numbers[0]!;
  const cast = <number>first;
  const shape = new Square(1);
  const map = new Map<string, Array<number>>([['a', [1]]]);
  const f = pick<'k'>;
  for (const n of input.numbers as number[]) later += n;
  let unset!: number;
  unset = 1;
  try { null!.x } catch (error: unknown) { later += (error as Error).name }
  return { sum: input.numbers.reduce<number>(add, 0), label: shape.label('a '), key: f('k'), list, later, cast, size: map.size, kept: await long<number>(7), count: Shape.count } as any as Result;
}
"#;

#[tokio::test]
async fn types_are_taken_away_and_the_rest_works() {
    let server = TestServer::start().await;
    server.deploy("sums.ts", TYPED, "&visibility=public").await;
    let (status, body) = server.http("", "sums", json!({ "numbers": [1, 2, 3] })).await;
    assert_eq!(status, 200, "{body:#}");
    let expected = json!({ "sum": 6, "label": "a shape", "key": "k", "list": [1, 2, 3], "later": "x123TypeError", "cast": 1, "size": 1, "kept": 7, "count": 1 });
    assert_eq!(body, expected);
}

#[tokio::test]
async fn traces_show_the_lines_of_the_typescript_file() {
    let server = TestServer::start().await;
    let source = "interface A { b: { c: number } }\n\nfunction deep(value: A | undefined): number {\n  const typed: Record<string, number> = {}; return typed.x ?? value!.b.c as number;\n}\nexport default (input: unknown): number => deep(undefined);\n";
    server.deploy("deep.ts", source, "&visibility=public").await;
    let (_, body) = server.http(&server.admin, "deep", json!(null)).await;
    let id = body["taskId"].as_str().unwrap();
    let task = server.task(id).await.to_string();
    assert!(task.contains("deep (deep.ts:4:70)") || task.contains("deep (deep.ts:4:"), "{task}");
    assert!(task.contains("(deep.ts:6:"), "{task}");
}

#[tokio::test]
async fn what_makes_code_is_refused_with_the_way_out() {
    let server = TestServer::start().await;
    let rows = [
        (
            "enum Color { Red }\nexport default () => Color.Red;",
            "hello.ts:1:1: SyntaxError: an enum makes code",
            "enum Color { Red }",
        ),
        ("const enum E { A }\nexport default () => E.A;", "hello.ts:1:1: ", "write a constant object"),
        (
            "namespace N { export const x = 1 }\nexport default () => N.x;",
            "a namespace makes code",
            "use a file of its own and `import`",
        ),
        (
            "class P {\n  constructor(private x: number) {}\n}\nexport default () => new P(1);",
            "hello.ts:2:15: SyntaxError: a parameter property makes code",
            "declare the field",
        ),
        ("import fs = require('fs');\nexport default () => fs;", "`import … =` is not supported", "^"),
        ("@sealed\nclass A {}\nexport default () => A;", "decorators are not supported", "hello.ts:1:1"),
        ("export default (a: number => {\n};", "hello.ts:1:", "SyntaxError"),
        ("const x: number = ;\nexport default () => x;", "hello.ts:1:19: SyntaxError", "                  ^"),
        (
            "const x: string = nowhere;\nexport default () => x;",
            "hello.ts:1:",
            "ReferenceError: nowhere is not defined",
        ),
    ];
    for (source, one, two) in rows {
        let (status, body) = server.try_deploy("hello.ts", source, "").await;
        let message = body["error"]["message"].as_str().unwrap_or_default();
        assert!(status == 422 && message.contains(one) && message.contains(two), "{source}\n{status} {message}");
    }
}
