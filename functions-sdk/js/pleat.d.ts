// The types of a Pleat function in JavaScript or TypeScript. For an editor, put this at the top of your file:
//
//   /// <reference path="pleat.d.ts" />
//   /** @type {Pleat.Handler} */
//
// `console`, `fetch`, `URL`, timers, `crypto` and so on are as in browsers: use the library "DOM" (or "WebWorker") of
// TypeScript for them. What is not there is listed in docs/javascript.md.

/** A failure that callers can tell apart. */
declare class PleatError extends Error {
  constructor(code: string, message?: string, options?: { retryable?: boolean; details?: Pleat.Json; cause?: unknown });
  code: string;
  retryable?: boolean;
  details?: Pleat.Json;
}

declare namespace Pleat {
  /** Anything that JSON can carry. */
  type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };
  type JsonSchema = boolean | { [key: string]: unknown };

  /** The default export. May be async; `undefined` counts as `null`. */
  type Handler<Input = any, Output = any> = (
    input: Input,
    ctx: Context,
  ) => Output | Outcome | Promise<Output | Outcome>;

  /** Made by `ctx.content`, `ctx.needInput`, …; takes effect when the function returns it. */
  interface Outcome {
    readonly __outcome: unique symbol;
  }

  type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error';

  interface Log {
    (...values: unknown[]): void;
    (level: Level, ...values: unknown[]): void;
    trace(...values: unknown[]): void;
    debug(...values: unknown[]): void;
    info(...values: unknown[]): void;
    warn(...values: unknown[]): void;
    error(...values: unknown[]): void;
  }

  /** A content block in the shape of the Model Context Protocol. */
  type Block =
    | { type: 'text'; text: string; [key: string]: unknown }
    | { type: 'image' | 'audio'; data: string; mimeType: string; [key: string]: unknown }
    | { type: 'resource_link'; uri: string; name: string; mimeType?: string; [key: string]: unknown }
    | { type: 'resource'; resource: { uri: string; text?: string; blob?: string; mimeType?: string } }
    | { type: 'data'; data: Json; [key: string]: unknown };

  interface Message {
    role: string;
    messageId?: string;
    content: Block[];
    metadata?: { [key: string]: Json };
    /** What the request that brought it says beside it. */
    request?: { metadata?: { [key: string]: Json }; acceptedOutputModes?: string[] };
  }

  interface EmitOptions {
    /** Names the artifact that the chunk belongs to; without it `<skill>-stream`. */
    artifact?: string;
    /** Closes the artifact. */
    last?: boolean;
  }

  interface AskOptions {
    /** JSON Schema of the answer. */
    schema?: JsonSchema;
    /** Kept by the platform until the next turn, never shown to the caller. */
    state?: Json;
  }

  interface Secrets {
    /** Throws a `PleatError`: `secret_not_granted`, `secret_not_found`, `secret_unavailable`. */
    get(name: string): string;
  }

  interface Config {
    /** `undefined` when it is not set or not granted. */
    get(name: string): string | undefined;
  }

  /** Small values that outlive the call, shared by the functions of the tenant. Errors are `kv_…`. */
  interface KeyValue {
    get(key: string): Promise<string | undefined>;
    getJson<Value = any>(key: string): Promise<Value | undefined>;
    getBytes(key: string): Promise<Uint8Array | undefined>;
    /** A string or bytes as they are, anything else as JSON. */
    set(key: string, value: Json | Uint8Array | ArrayBuffer, options?: { ttlSeconds?: number }): Promise<void>;
    /** Whether it was there. */
    delete(key: string): Promise<boolean>;
    /** Atomic; a key that is not there counts as 0. */
    increment(key: string, by?: number): Promise<number>;
    list(prefix?: string, options?: { cursor?: string; limit?: number }): Promise<{ keys: string[]; cursor?: string }>;
  }

  interface Context {
    /** Stable over retries: fit to be passed on as an idempotency key. */
    readonly taskId: string;
    readonly contextId: string;
    /** The name under which the function was called. */
    readonly skill: string;
    readonly version: string;
    /** `anonymous` or `key:<id>`. */
    readonly caller: string;
    readonly door: 'http' | 'a2a' | 'mcp' | 'call' | 'pipeline' | 'control';
    /** 1, and more when the task is run again after its node was lost. */
    readonly attempt: number;
    /** 1, and more when a later message continues the task. */
    readonly turn: number;
    /** The message that made this call, with all of its parts. */
    readonly message: Message;
    /** Earlier messages of this task, oldest first. */
    readonly history: Message[];
    /** What the previous turn kept. */
    readonly state: any;
    /** The client's answer to `needClient`. */
    readonly reply: any;

    readonly log: Log;
    /** Streams a chunk: text for a string, data for anything else. */
    emit(chunk: Json, options?: EmitOptions): void;
    emitBlocks(blocks: Array<Block | string>, options?: EmitOptions): void;
    progress(done: number, total?: number, note?: string): void;

    readonly secrets: Secrets;
    readonly config: Config;
    readonly kv: KeyValue;
    /** Calls another skill of the tenant as the same caller. Started at once: several run at the same time. */
    call<Output = any>(skill: string, input?: Json, options?: { signal?: AbortSignal }): Promise<Output>;

    /** A result made of content blocks, with an optional structured form. */
    content(blocks: Block | string | Array<Block | string>, structured?: Json): Outcome;
    /** The task waits for an answer, which calls the function again. */
    needInput(prompt: string, options?: AskOptions): Outcome;
    needAuth(prompt: string, options?: AskOptions): Outcome;
    /** Asks the caller's client, where it can serve the request (MCP). */
    needClient(kind: 'elicit' | 'sample' | 'roots', params: Json, options?: { state?: Json }): Outcome;
    reject(reason: string): Outcome;
  }

  /** Throw an `Error` with these for a failure that callers can tell apart. */
  interface Failure extends Error {
    /** For machines; `exception` where there is none. */
    code?: string;
    /** The same call may succeed later. */
    retryable?: boolean;
    details?: Json;
  }

  interface Capabilities {
    secrets?: string[];
    config?: string[];
    hosts?: string[];
    skills?: string[];
    keyValue?: boolean;
  }

  /** What a file may export beside its default: constants, read once, at deploy. */
  interface Manifest {
    name?: string;
    title?: string;
    description?: string;
    /** JSON Schema of the input. */
    input?: JsonSchema;
    output?: JsonSchema;
    tags?: string[];
    examples?: Json[];
    annotations?: { [key: string]: Json };
    visibility?: 'public' | 'listed' | 'unlisted';
    capabilities?: Capabilities;
    /** A guardrail policy; one that the tenant sets for the function takes its place. */
    guardrails?: Record<string, unknown>;
    limits?: { cpuMs?: number; wallMs?: number; memoryBytes?: number; outputBytes?: number };
    resources?: Json[];
    resourceTemplates?: Json[];
    prompts?: Json[];
    /** Serves the offered resources: answers with the result of MCP's `resources/read`. */
    readResource?(uri: string, ctx: Context): Json | Promise<Json>;
    /** Serves the offered prompts: answers with the result of MCP's `prompts/get`. */
    getPrompt?(name: string, values: any, ctx: Context): Json | Promise<Json>;
  }
}
