"""What a function may use once the deployer has granted it. Without the grant each raises `Error` with the code
`not_granted`."""

import json

from . import value
from .error import refused


class Pending:
    """Something that was started. Several run side by side; each is waited for by its own `result`."""

    def __init__(self, host, what, resource, finish):
        self._host = host
        self._what = what
        self._resource = resource
        self._finish = finish

    def result(self):
        """Waits. To be asked for once."""
        with self._resource as resource:
            with resource.subscribe() as ready:
                ready.block()
            taken = resource.take()
        if taken is None:
            raise RuntimeError("the result was taken already")
        if isinstance(taken, self._host.Err):
            raise refused(self._what, taken.value)
        return self._finish(taken.value)


def start_call(host, skill, input):
    what = f"calling `{skill}`"
    try:
        return Pending(host, what, host.call.start(skill, value.written(input, "the input")), value.parsed)
    except host.Err as error:
        raise refused(what, error.value) from None


class Secrets:
    def __init__(self, host):
        self._host = host

    def get(self, name):
        try:
            return self._host.secrets.get(name)
        except self._host.Err as error:
            raise refused(f"the secret `{name}`", error.value) from None


class Config:
    def __init__(self, host):
        self._host = host

    def get(self, name, default=None):
        found = self._host.config.get(name)
        return default if found is None else found


class KeyValue:
    """Small values that outlive the call, shared by the functions of the tenant."""

    def __init__(self, host):
        self._host = host

    def _do(self, key, work):
        try:
            return work(self._host.key_value)
        except self._host.Err as error:
            raise refused(f"the key `{key}`", error.value) from None

    def get(self, key):
        """Bytes, or `None`."""
        return self._do(key, lambda store: store.get(key))

    def get_json(self, key, default=None):
        found = self.get(key)
        return default if found is None else json.loads(found)

    def set(self, key, stored, *, ttl=None):
        """`stored` is bytes, text, or anything that JSON can carry; `ttl` is in seconds."""
        if isinstance(stored, str):
            stored = value.text(stored).encode()
        elif not isinstance(stored, (bytes, bytearray)):
            stored = value.written(stored, "the value").encode()
        self._do(key, lambda store: store.set(key, bytes(stored), ttl))

    def delete(self, key):
        """Whether it was there."""
        return self._do(key, lambda store: store.delete(key))

    def increment(self, key, by=1):
        return self._do(key, lambda store: store.increment(key, by))

    def list(self, prefix="", *, page=100):
        """All keys that begin so, fetched as they are asked for."""
        cursor = None
        while True:
            found = self._do(prefix, lambda store: store.list_keys(prefix, cursor, page))
            yield from found.keys
            cursor = found.cursor
            if cursor is None:
                return


class Response:
    """`status`, `url` (after redirects), `headers` (names in lower case), `body` (bytes)."""

    def __init__(self, raw):
        self.status = raw.status
        self.url = raw.url
        self.headers = {header.name.lower(): header.value.decode("latin-1") for header in raw.headers}
        self.body = bytes(raw.body)

    @property
    def ok(self):
        return 200 <= self.status < 300

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")

    def json(self):
        return json.loads(self.body)


class Http:
    """HTTP to granted hosts."""

    def __init__(self, host):
        self._host = host

    def get(self, url, **options):
        return self.start("GET", url, **options).result()

    def post(self, url, **options):
        return self.start("POST", url, **options).result()

    def request(self, method, url, **options):
        return self.start(method, url, **options).result()

    def start(self, method, url, *, headers=None, body=None, json=None, timeout=None, follow_redirects=True):
        """Sends without waiting: several run side by side. `timeout` is in seconds; `json` is sent as the body."""
        headers = dict(headers or {})
        if json is not None:
            body = value.written(json, "the body")
            headers.setdefault("content-type", "application/json")
        if isinstance(body, str):
            body = body.encode()
        http = self._host.http
        listed = [http.Header(name, str(text).encode("latin-1")) for name, text in headers.items()]
        most = None if timeout is None else max(1, int(timeout * 1000))
        what = f"{method} {url}"
        try:
            pending = http.send(http.Request(method, url, listed, body, most, follow_redirects))
        except self._host.Err as error:
            raise refused(what, error.value) from None
        return Pending(self._host, what, pending, Response)
