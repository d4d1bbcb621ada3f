"""Stands between a conformance suite of A2A and a tenant: the tenant gets an origin of its own, the suite a key.

usage: proxy.py PORT TENANT_URL KEY

A path that is not below that of TENANT_URL is put below it, because suites for 0.3 look for the card at the origin. The
key is added to every request that has none, but to those for the extended card of 0.3: it is asked for there to see that
it is refused. `Host` is passed on, so that the addresses on the card are those of this proxy.
"""

import http.client
import sys
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, TENANT, KEY = int(sys.argv[1]), urllib.parse.urlsplit(sys.argv[2].rstrip("/")), sys.argv[3]


class Proxy(BaseHTTPRequestHandler):
    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = urllib.parse.urlsplit(self.path).path
        below = f"{path}/".startswith(TENANT.path + "/") or not TENANT.path
        headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        if "Authorization" not in self.headers and b"agent/getAuthenticatedExtendedCard" not in body:
            headers["Authorization"] = f"Bearer {KEY}"
        tenant = http.client.HTTPConnection(TENANT.hostname, TENANT.port, timeout=120)
        tenant.request(self.command, self.path if below else TENANT.path + self.path, body or None, headers)
        self.answer(tenant.getresponse())
        tenant.close()

    def answer(self, response):
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in ("connection", "transfer-encoding", "date"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            while piece := response.read1():
                self.wfile.write(piece)
        except ConnectionError:
            pass  # A reader of a stream that has heard enough.

    def log_message(self, *_):
        pass

    do_GET = do_POST = do_DELETE = forward


server = ThreadingHTTPServer(("127.0.0.1", PORT), Proxy)
print(f"http://127.0.0.1:{PORT} is now {TENANT.geturl()}", flush=True)
server.serve_forever()
