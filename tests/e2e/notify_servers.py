"""A mail server and a receiver of webhooks for tests: they keep what they are sent, and fail on request."""

import email
import email.policy
import http.server
import json
import socket
import ssl
import subprocess
import threading


def certificate(folder):
    """A certificate of localhost that is its own authority: (certificate, key)."""
    pem, key = folder / "server.pem", folder / "server.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", pem, "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
    return pem, key


class Server:
    """Accepts connections in threads of its own until it is closed."""

    def __init__(self, port=0):
        self.socket = socket.create_server(("127.0.0.1", port))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            with connection:
                self.serve(connection)
        except OSError:
            pass

    def close(self):
        # A thread that is in accept() keeps the port open otherwise.
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()


class MailServer(Server):
    """Enough of SMTP: EHLO, STARTTLS, AUTH PLAIN, MAIL, RCPT, DATA. `answers` maps a verb to the replies it gets first, in turn."""

    def __init__(self, port=0, tls=None, login=None):
        self.tls, self.login = tls, login
        self.mails = []       # {from, to, tls, user, text}
        self.answers = {}
        super().__init__(port)

    def serve(self, connection):
        stream = connection.makefile("rwb")
        mail, is_tls, user = {"to": []}, False, None

        def say(line):
            stream.write(line.encode() + b"\r\n")
            stream.flush()

        say("220 mail.test ready")
        while True:
            line = stream.readline().decode().strip()
            if not line:
                return
            verb = line.split()[0].upper()
            planned = self.answers.get(verb)
            if planned:
                say(planned.pop(0))
                continue
            if verb == "EHLO":
                lines = ["mail.test"]
                if self.tls and not is_tls:
                    lines.append("STARTTLS")
                if self.login and (is_tls or not self.tls):
                    lines.append("AUTH PLAIN")
                for text in lines[:-1]:
                    say("250-" + text)
                say("250 " + lines[-1])
            elif verb == "STARTTLS" and self.tls:
                say("220 go ahead")
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(*self.tls)
                stream.close()
                connection = context.wrap_socket(connection, server_side=True)
                stream, is_tls = connection.makefile("rwb"), True
            elif verb == "AUTH":
                import base64
                words = line.split()
                if len(words) < 3:
                    say("334 ")
                    words.append(stream.readline().decode().strip())
                _, name, password = base64.b64decode(words[2]).decode().split("\0")
                if (name, password) == self.login:
                    user = name
                    say("235 welcome")
                else:
                    say("535 wrong password")
            elif verb == "MAIL":
                mail = {"from": line[len("MAIL FROM:"):].split()[0].strip("<>"), "to": []}
                say("250 ok")
            elif verb == "RCPT":
                address = line[len("RCPT TO:"):].strip("<>")
                if address.startswith("unknown"):
                    say("550 no such user")
                else:
                    mail["to"].append(address)
                    say("250 ok")
            elif verb == "DATA":
                say("354 go on")
                lines = []
                while (text := stream.readline()) not in (b".\r\n", b""):
                    lines.append(text[1:] if text.startswith(b".") else text)
                self.mails.append(mail | {"tls": is_tls, "user": user,
                                          "text": email.message_from_bytes(b"".join(lines), policy=email.policy.default)})
                say("250 queued")
            elif verb == "QUIT":
                say("221 bye")
                return
            else:
                say("502 not known")


class HookServer:
    """Keeps requests: {path, headers, body, status}. `statuses`: (status, headers) for the next ones; after them 204."""

    def __init__(self, tls=None, port=0):
        self.requests, self.statuses = [], []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, headers = outer.statuses.pop(0) if outer.statuses else (204, {})
                outer.requests.append({"path": self.path, "headers": self.headers, "body": body, "status": status})
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def of_job(self, job):
        return [r for r in self.requests if json.loads(r["body"]).get("job", {}).get("id") == int(job)]

    def close(self):
        self.server.shutdown()
        self.server.server_close()
