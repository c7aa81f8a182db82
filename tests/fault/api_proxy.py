"""A proxy before the API server of Kubernetes that refuses requests, loses answers and cuts connections, as a test says."""
import contextlib
import http.client
import http.server
import pathlib
import random
import re
import socket
import ssl
import struct
import threading
import urllib.parse

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host", "te", "upgrade"}


class ApiProxy:
    """Serves 127.0.0.1 with the certificate of the test bed in `folder`. `config` is a kubeconfig for it."""

    def __init__(self, folder, config):
        pki = pathlib.Path(folder) / "run/pki"
        given = (pathlib.Path(folder) / "run/admin.kubeconfig").read_text()
        self.server = urllib.parse.urlsplit(re.search(r'server: "([^"]+)"', given)[1])
        self.to_server = ssl.create_default_context(cafile=pki / "ca.crt")
        self.to_server.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        self.refusal = None  # status with which every request is refused
        self.lost = 0.0  # share of the answers that are lost after the request was carried out
        self.random = random.Random(1)
        self.before = self.after = None  # called with method and path when a request has come, and when the server has carried it out
        self.counts = {"refused": 0, "lost": 0, "cut": 0}
        self.open = set()
        self.lock = threading.Lock()
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self):
                super().setup()
                with proxy.lock:
                    proxy.open.add(self.connection)

            def finish(self):
                with proxy.lock:
                    proxy.open.discard(self.connection)
                with contextlib.suppress(OSError):
                    super().finish()

            def log_message(self, *_):
                pass

            def handle(self):
                with contextlib.suppress(OSError, http.client.HTTPException):
                    super().handle()

            def forward(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if proxy.refusal:
                    proxy.counts["refused"] += 1
                    return self.refuse(proxy.refusal)
                if proxy.before:
                    proxy.before(self.command, self.path)
                to_api = http.client.HTTPSConnection(proxy.server.hostname, proxy.server.port, context=proxy.to_server, timeout=600)
                try:
                    try:
                        to_api.request(self.command, self.path, body,
                                       {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP})
                        answer = to_api.getresponse()
                    except OSError:
                        return self.drop()
                    if proxy.random.random() < proxy.lost:
                        answer.read() if "watch=" not in self.path else None
                        proxy.counts["lost"] += 1
                        return self.drop()
                    if proxy.after and answer.status < 300:
                        proxy.after(self.command, self.path)
                    self.answer(answer)
                finally:
                    to_api.close()

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = forward

            def drop(self):
                self.close_connection = True
                reset(self.connection)

            def refuse(self, status):
                text = b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"refused by the test","code":%d}' % status
                self.send_response(status)
                if status == 429:
                    self.send_header("Retry-After", "1")
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def answer(self, answer):
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in HOP_BY_HOP:
                        self.send_header(name, value)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                while piece := answer.read1(1 << 16):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.write(b"0\r\n\r\n")

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def get_request(self):
                connection, address = super().get_request()
                connection.settimeout(600)
                return own.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

            def handle_error(self, *_):
                pass

        own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        own.load_cert_chain(pki / "apiserver.crt", pki / "apiserver.key")
        self.http = Server(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()
        port = self.http.server_address[1]
        pathlib.Path(config).write_text(given.replace(self.server.geturl(), f"https://127.0.0.1:{port}"))

    def cut(self):
        """Ends all connections at once, in the middle of whatever they carry."""
        with self.lock:
            self.counts["cut"] += len(self.open)
            for connection in self.open:
                reset(connection)

    def close(self):
        self.http.shutdown()
        self.http.server_close()
        self.cut()


def reset(connection):
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RDWR)
