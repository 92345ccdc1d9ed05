"""A hub of datasets on loopback, with the routes that Hugging Face has for them."""

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import unquote

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub:
    """Serves `files` of one dataset at one commit, and notes what was asked for."""

    def __init__(self, files, *, token=None):
        self.files, self.token, self.asked = files, token, []
        self.answers = {}
        self.url = ""

    def answer(self, path, headers):
        """Return status, headers and body for a path."""
        self.asked.append(path)
        if self.token and headers.get("Authorization") != f"Bearer {self.token}":
            return 401, {}, b"no"
        if path in self.answers:
            return self.answers[path]
        if path.startswith("/api/datasets/org/data/revision/"):
            names = [{"rfilename": name} for name in self.files]
            return 200, {}, json.dumps({"sha": COMMIT, "siblings": names}).encode()
        name = unquote(path).removeprefix(f"/datasets/org/data/resolve/{COMMIT}/")
        if name in self.files:
            # The hub itself sends a reader on to where large files lie.
            return 302, {"Location": f"/cdn/{path.rpartition('/')[2]}"}, b""
        if path.startswith("/cdn/"):
            found = next(n for n in self.files if n.endswith(unquote(path)[5:]))
            return 200, {}, self.files[found]
        return 404, {}, b"no"


@contextmanager
def served(hub):
    """Serve a hub on a free port of loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            status, headers, body = hub.answer(self.path, self.headers)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if "Content-Length" not in headers:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
