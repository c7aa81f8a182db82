"""HTTPS for an Api: requests, answers in parts, and the faults that a test asks for."""

import contextlib
import http.server
import json
import pathlib
import socket
import ssl
import struct
import subprocess
import sys
import threading
import traceback
import urllib.parse

from .api import Request, Stream
from .objects import Refused

TOKEN = "the-token-of-the-agent"
MOST_OF_BODY = 3 << 20


class Fault:
    """What happens to the next `times` calls of these names: they are refused with a status, or carried out and not answered. `before` is
    called with the request first."""

    def __init__(self, *names, times=1, status=None, message="refused by the test", lost=False, before=None, headers=()):
        self.names, self.times, self.status, self.message = names, times, status, message
        self.lost, self.before, self.headers = lost, before, headers


class Faults:
    def __init__(self):
        self.lock, self.waiting = threading.Lock(), []

    def add(self, *names, **more):
        with self.lock:
            self.waiting.append(fault := Fault(*names, **more))
        return fault

    def take(self, request):
        """The fault of this request; none if it has none."""
        with self.lock:
            for fault in self.waiting:
                if fault.times > 0 and request.row and (not fault.names or request.row.call in fault.names):
                    fault.times -= 1
                    return fault
        return None


REASONS = {429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable", 409: "Conflict", 403: "Forbidden"}


def make_certificate(folder):
    """A key and a certificate for 127.0.0.1 that is its own authority."""
    key, certificate = folder / "server.key", folder / "server.crt"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=stand-in",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    return key, certificate


def kubeconfig(port, certificate):
    return f"""apiVersion: v1
kind: Config
current-context: stand-in
clusters:
  - {{name: stand-in, cluster: {{server: "https://127.0.0.1:{port}", certificate-authority: "{certificate}"}}}}
users:
  - {{name: agent, user: {{token: "{TOKEN}"}}}}
contexts:
  - {{name: stand-in, context: {{cluster: stand-in, user: agent}}}}
"""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    of = None  # the Server

    def log_message(self, *_):
        pass

    def handle(self):
        with contextlib.suppress(OSError):
            super().handle()

    def finish(self):
        with contextlib.suppress(OSError):
            super().finish()

    def serve(self):
        size = int(self.headers.get("Content-Length", 0))
        url = urllib.parse.urlsplit(self.path)
        pairs = urllib.parse.parse_qsl(url.query, keep_blank_values=True)
        request = Request(self.command, url.path, dict(pairs), self.headers, self.rfile.read(size))
        api = self.of.api
        if len(request.query) != len(pairs):
            api.report(request, "a parameter is there twice")
        try:
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                raise Refused(401, "Unauthorized", "Unauthorized")
            api.find(request)
            if size > MOST_OF_BODY:
                api.report(request, f"a body of {size} bytes")
            fault = self.of.faults.take(request)
            if fault and fault.before:
                fault.before(request)
            if fault and fault.status:
                raise Refused(fault.status, REASONS[fault.status], fault.message, fault.headers)
            status, answer = api.carry_out(request)
            if fault and fault.lost:
                return self.drop()
        except Refused as refused:
            status, answer = refused.status, refused.body()
            return self.answer(status, answer, refused.headers)
        return self.stream(answer) if isinstance(answer, Stream) else self.answer(status, answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = serve

    def answer(self, status, thing, headers=()):
        text = json.dumps(thing).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(text)), **dict(headers)}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def stream(self, answer):
        self.send_response(200)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in answer.parts:
            # Cut anywhere, as by a network.
            for piece in (part[:len(part) // 2], part[len(part) // 2:]):
                if piece:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def drop(self):
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.shutdown(socket.SHUT_RDWR)


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, context, handler):
        self.context = context
        super().__init__(("127.0.0.1", 0), handler)

    def get_request(self):
        connection, address = super().get_request()
        connection.settimeout(600)
        return self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, *_):
        if not isinstance(sys.exc_info()[1], OSError):  # which is a connection that was closed
            self.RequestHandlerClass.of.api.problems.append(traceback.format_exc())


class Server:
    """Serves an Api on 127.0.0.1. `config` is the path of a kubeconfig for it."""

    def __init__(self, api, folder):
        self.api, self.faults = api, Faults()
        folder = pathlib.Path(folder)
        key, certificate = make_certificate(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.listener = Listener(context, type("OwnHandler", (Handler,), {"of": self}))
        threading.Thread(target=self.listener.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        self.config = folder / "kubeconfig"
        self.config.write_text(kubeconfig(self.listener.server_address[1], certificate))

    def close(self):
        self.listener.shutdown()
        self.listener.server_close()
