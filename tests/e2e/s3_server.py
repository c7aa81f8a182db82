"""A small S3 server on loopback for tests: it verifies every signature with code of its own, knows If-None-Match, multipart uploads and
ranges, and does what a test asks for to the requests that match: an error, silence, or half an answer."""

import hashlib
import hmac
import http.server
import re
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

KEY, SECRET, REGION = "AKIDTEST", "a/secret+key", "eu-test-1"


def hmac_of(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", headers=None):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def error(self, status, code):
        self.reply(status, f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>as the test asks</Message></Error>".encode())

    def signed(self, body):
        found = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})",
                             self.headers.get("authorization", ""))
        if not found or found[1] != KEY or found[3] != REGION or self.headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
            return False
        path, _, query = self.path.partition("?")
        if not {"host", "x-amz-date", "x-amz-content-sha256"} <= set(found[4].split(";")) or sorted(query.split("&")) != query.split("&"):
            return False
        lines = [self.command, path, query, *(f"{name}:{self.headers[name]}" for name in found[4].split(";")), "", found[4],
                 self.headers["x-amz-content-sha256"]]
        text = "\n".join(["AWS4-HMAC-SHA256", self.headers["x-amz-date"], f"{found[2]}/{REGION}/s3/aws4_request",
                          hashlib.sha256("\n".join(lines).encode()).hexdigest()])
        key = ("AWS4" + SECRET).encode()
        for part in (found[2], REGION, "s3", "aws4_request"):
            key = hmac_of(key, part)
        return hmac.compare_digest(hmac_of(key, text).hex(), found[5])

    def handle_request(self):
        server = self.server.owner
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        path, _, query = self.path.partition("?")
        query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        path = urllib.parse.unquote(path)
        server.seen.append((self.command, path, query))
        if not self.signed(body):
            return self.error(403, "SignatureDoesNotMatch")
        for fault in server.faults:
            if fault["times"] > 0 and re.search(fault["what"], f"{self.command} {self.path}"):
                fault["times"] -= 1
                if fault["how"] == "silent":
                    return time.sleep(3) or setattr(self, "close_connection", True)
                if fault["how"] == "truncated":
                    self.truncated = True
                    break
                return self.error(fault["how"], "SlowDown" if fault["how"] == 503 else "InternalError")
        getattr(self, "do_" + self.command + "_signed")(server, path, query, body)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_request

    def do_HEAD_signed(self, server, path, query, body):
        self.reply(200 if path in server.objects else 404)

    def do_GET_signed(self, server, path, query, body):
        if "list-type" in query:
            return self.listing(server, path, query)
        if path not in server.objects:
            return self.error(404, "NoSuchKey")
        data, status, more = server.objects[path], 200, {}
        if found := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("range", "")):
            first, last = int(found[1]), min(int(found[2]), len(data) - 1)
            if first >= len(data):
                return self.error(416, "InvalidRange")
            more = {"Content-Range": f"bytes {first}-{last}/{len(data)}"}
            data, status = data[first:last + 1], 206
        if getattr(self, "truncated", False):
            self.truncated = False
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[:len(data) // 2])
            self.close_connection = True
            return None
        return self.reply(status, data, more)

    def listing(self, server, path, query):
        """Two entries a page, so that the client has to turn pages."""
        bucket, prefix, delimiter = path + "/", query.get("prefix", ""), query.get("delimiter")
        entries = {}
        for key in sorted(name.removeprefix(bucket) for name in server.objects if name.startswith(bucket + prefix)):
            rest = key[len(prefix):]
            folder = delimiter and delimiter in rest
            entries[prefix + rest.split(delimiter)[0] + delimiter if folder else key] = "CommonPrefixes" if folder else "Contents"
        after = [(name, kind) for name, kind in entries.items() if name > query.get("continuation-token", "")]
        page = "".join(f"<{kind}><{'Prefix' if kind == 'CommonPrefixes' else 'Key'}>{escape(name)}</{'Prefix' if kind == 'CommonPrefixes' else 'Key'}></{kind}>"
                       for name, kind in after[:2])
        more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{escape(after[1][0])}</NextContinuationToken>" if len(after) > 2 else "<IsTruncated>false</IsTruncated>"
        self.reply(200, f'<?xml version="1.0"?><ListBucketResult xmlns="x">{page}{more}</ListBucketResult>'.encode())

    def do_PUT_signed(self, server, path, query, body):
        if "uploadId" in query:
            if query["uploadId"] not in server.uploads:
                return self.error(404, "NoSuchUpload")
            server.uploads[query["uploadId"]][int(query["partNumber"])] = body
            return self.reply(200, headers={"ETag": f'"{hashlib.md5(body).hexdigest()}"'})
        if self.headers.get("if-none-match") == "*":
            if not server.conditional:
                return self.error(501, "NotImplemented")
            if path in server.objects:
                return self.error(412, "PreconditionFailed")
        server.objects[path] = body
        return self.reply(200, headers={"ETag": '"x"'})

    def do_POST_signed(self, server, path, query, body):
        if "uploads" in query:
            name = f"upload {len(server.seen)}"
            server.uploads[name] = {}
            return self.reply(200, f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>".encode())
        parts = server.uploads.pop(query["uploadId"], None)
        if parts is None:
            return self.error(404, "NoSuchUpload")
        server.objects[path] = b"".join(parts[int(number)] for number in re.findall(rb"<PartNumber>(\d+)<", body))
        return self.reply(200, b"<CompleteMultipartUploadResult/>")

    def do_DELETE_signed(self, server, path, query, body):
        if "uploadId" in query:
            server.uploads.pop(query["uploadId"], None)
        else:
            server.objects.pop(path, None)
        self.reply(204)


class S3Server:
    def __init__(self):
        self.objects, self.uploads, self.seen, self.faults, self.conditional = {}, {}, [], [], True
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.owner = self
        self.endpoint = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()

    def fail(self, what, how, times=1):
        """The next requests whose line matches get that status, or `silent` or `truncated` answers."""
        self.faults.append({"what": what, "how": how, "times": times})
