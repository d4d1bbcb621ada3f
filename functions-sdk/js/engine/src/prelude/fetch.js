// fetch, Request and Response over the host's HTTP. A request is sent when `fetch` is called; waiting is for the event
// loop, so that several run at once. Bodies are whole: there are no streams.
(function (kit) {
  const { native, text, PleatError } = kit;
  const NULL_BODY = [101, 103, 204, 205, 304];
  const REDIRECTS = [301, 302, 303, 307, 308];
  const FORBIDDEN = ['CONNECT', 'TRACE', 'TRACK'];
  const NORMAL = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH'];

  // The bytes and the content type of what was given as a body.
  function extract(body) {
    if (body === null || body === undefined) return [undefined, undefined];
    const view = kit.bytesOf(body);
    if (view !== undefined) return [view.slice(), undefined];
    if (body instanceof URLSearchParams) {
      return [kit.utf8(body.toString()), 'application/x-www-form-urlencoded;charset=UTF-8'];
    }
    const kind = typeof body === 'object' ? (body.constructor?.name ?? 'object') : typeof body;
    if (['FormData', 'Blob', 'File', 'ReadableStream'].includes(kind) || typeof body?.getReader === 'function') {
      throw new TypeError(`a body of type ${kind} is not supported; use a string, URLSearchParams or bytes`);
    }
    if (kind === 'Object' || kind === 'Array') {
      throw new TypeError('a plain object is no body: use JSON.stringify(…) and the header content-type: application/json');
    }
    return [kit.utf8(String(body)), 'text/plain;charset=UTF-8'];
  }

  // What Request and Response have in common.
  class Body {
    #bytes;
    #used = false;
    constructor(bytes) {
      this.#bytes = bytes;
    }
    // There are no streams; the whole is read with text(), json(), arrayBuffer() or bytes().
    get body() {
      return null;
    }
    get bodyUsed() {
      return this.#used;
    }
    static peek(body) {
      if (body.#used) throw new TypeError('the body has been read already; use clone() before reading');
      return body.#bytes;
    }
    static take(body) {
      const bytes = peek(body);
      if (bytes !== undefined) body.#used = true;
      return bytes ?? new Uint8Array(0);
    }
    async text() {
      return native.decode(take(this), 'utf-8', false).replace(/^\ufeff/, '');
    }
    async json() {
      return JSON.parse(await this.text());
    }
    async arrayBuffer() {
      return take(this).slice().buffer;
    }
    async bytes() {
      return take(this).slice();
    }
    async blob() {
      throw new TypeError('blob() is not supported; use arrayBuffer() or bytes()');
    }
    async formData() {
      throw new TypeError('formData() is not supported; use text() and URLSearchParams');
    }
  }
  const { peek, take } = Body;
  delete Body.peek;
  delete Body.take;

  function methodOf(method) {
    const own = String(method);
    const upper = own.toUpperCase();
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(own)) throw new TypeError(`\`${own}\` is not a method`);
    if (FORBIDDEN.includes(upper)) throw new TypeError(`the method ${upper} is not allowed`);
    return NORMAL.includes(upper) ? upper : own;
  }

  class Request extends Body {
    constructor(input, init) {
      const given = init ?? {};
      const from = input instanceof Request ? input : undefined;
      const url = from === undefined ? new URL(text(input)) : undefined;
      if (url !== undefined && (url.username !== '' || url.password !== '')) {
        throw new TypeError('a URL with a user name or password is refused; use the header authorization');
      }
      const method = given.method === undefined ? (from?.method ?? 'GET') : methodOf(given.method);
      const [own, type] = extract(given.body);
      const bytes = own ?? (from === undefined || given.body === null ? undefined : peek(from));
      if (bytes !== undefined && (method === 'GET' || method === 'HEAD')) {
        throw new TypeError(`a ${method} request cannot have a body`);
      }
      super(bytes);
      if (from !== undefined && own === undefined && bytes !== undefined) take(from);
      this.method = method;
      this.url = from?.url ?? url.href.replace(/#.*$/, '');
      this.headers = new Headers(given.headers ?? from?.headers);
      this.redirect = given.redirect ?? from?.redirect ?? 'follow';
      if (!['follow', 'manual', 'error'].includes(this.redirect)) {
        throw new TypeError('redirect must be follow, manual or error');
      }
      this.signal = given.signal ?? from?.signal ?? new AbortController().signal;
      if (type !== undefined && !this.headers.has('content-type')) this.headers.set('content-type', type);
    }
    clone() {
      return new Request(this.url, {
        method: this.method, headers: this.headers, body: peek(this), redirect: this.redirect, signal: this.signal,
      });
    }
  }

  // Only this file makes a Response with an address of its own.
  let made;

  class Response extends Body {
    constructor(body, init) {
      const [bytes, type] = extract(body);
      super(bytes);
      const status = init?.status ?? 200;
      if (made === undefined && !(Number.isInteger(status) && status >= 200 && status <= 599)) {
        throw new RangeError('Response: the status must be between 200 and 599');
      }
      if (bytes !== undefined && NULL_BODY.includes(status) && made === undefined) {
        throw new TypeError(`Response: status ${status} has no body`);
      }
      this.status = status;
      this.ok = status >= 200 && status <= 299;
      this.statusText = String(init?.statusText ?? '');
      this.headers = new Headers(init?.headers);
      this.type = made?.type ?? 'default';
      this.url = made?.url ?? '';
      this.redirected = made?.redirected ?? false;
      if (type !== undefined && !this.headers.has('content-type')) this.headers.set('content-type', type);
    }
    clone() {
      return making(this, () => new Response(peek(this), this));
    }
    static json(data, init) {
      const headers = new Headers(init?.headers);
      if (!headers.has('content-type')) headers.set('content-type', 'application/json');
      return new Response(JSON.stringify(data), { ...init, headers });
    }
    static error() {
      return making({ type: 'error' }, () => new Response(null, { status: 0 }));
    }
    static redirect(url, status = 302) {
      if (!REDIRECTS.includes(status)) throw new RangeError('Response.redirect: the status must be 301, 302, 303, 307 or 308');
      return new Response(null, { status, headers: { location: new URL(text(url)).href } });
    }
  }

  function making(properties, make) {
    made = properties;
    try {
      return make();
    } finally {
      made = undefined;
    }
  }

  const REASONS = {
    not_granted: (host) =>
      `the function may not reach \`${host}\`: name the host in \`capabilities.hosts\` and deploy with ` +
      `\`--grant host:${host}\``,
    invalid_request: (why) => `the request is not valid: ${why}`,
    denied_address: () => 'the address is not public',
    timeout: () => 'the server did not answer in time',
    too_large: () => 'the answer is larger than a function may receive',
    failed: (why) => why,
  };

  function failure([code, detail]) {
    const reason = (REASONS[code] ?? REASONS.failed)(detail);
    const cause = new PleatError(`fetch_${code}`, reason, { retryable: code === 'timeout' || code === 'failed' });
    const error = new TypeError(`fetch failed: ${reason}`, { cause });
    error.code = cause.code;
    if (cause.retryable) error.retryable = true;
    return error;
  }

  function received(request, [status, url, flat, body]) {
    if (request.redirect === 'error' && REDIRECTS.includes(status)) {
      throw failure(['failed', 'the server redirects, and redirect is `error`']);
    }
    const headers = [];
    for (let index = 0; index < flat.length; index += 2) headers.push([flat[index], flat[index + 1]]);
    const properties = { type: 'basic', url, redirected: url !== request.url };
    const bytes = NULL_BODY.includes(status) ? null : body;
    return making(properties, () => new Response(bytes, { status, headers }));
  }

  kit.define('fetch', function fetch(input, init) {
    return new Promise((resolve, reject) => {
      kit.requireLive('fetch');
      const request = new Request(input, init);
      const { signal } = request;
      signal.throwIfAborted();
      const started = native.send(
        request.method, request.url, [...request.headers].flat(), peek(request), request.redirect === 'follow',
      );
      if (typeof started !== 'number') throw failure(started);
      const abort = () => {
        kit.forget(started);
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort, { once: true });
      kit.await(started, (id) => {
        signal.removeEventListener('abort', abort);
        const answer = native.takeResponse(id);
        try {
          if (answer.length === 2) throw failure(answer);
          resolve(received(request, answer));
        } catch (error) {
          reject(error);
        }
      });
    });
  });

  for (const constructor of [Request, Response]) {
    kit.tag(constructor, constructor.name);
    kit.define(constructor.name, constructor);
  }
})
