"""A private OpenStack Swift with its S3 interface, of Debian's packages, on loopback: rings of one replica, one folder as its only device.

The servers run directly, without swift-init, as the user that calls; the file system of the folder must have extended attributes. Port
numbers are taken free from the system just before the servers start."""

import contextlib
import getpass
import hashlib
import hmac
import http.client
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.parse

REGION = "us-east-1"
KEY, SECRET = "test:tester", "testing"
SERVERS = ("account", "container", "object")
NEEDED = ["swift-proxy-server", "swift-ring-builder", *(f"swift-{kind}-server" for kind in SERVERS)]


def missing():
    """What is not installed; None: all is."""
    absent = [program for program in NEEDED if not shutil.which(program)]
    return f"{', '.join(absent)} not installed: apt-get install swift-proxy swift-account swift-container swift-object" if absent else None


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


STORAGE = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
user = {user}
swift_dir = {top}
devices = {top}/devices
mount_check = false
disable_fallocate = true
log_address = {top}/none
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
allow_versions = true
"""

PROXY = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
user = {user}
swift_dir = {top}
log_address = {top}/none
[pipeline:main]
pipeline = catch_errors proxy-logging cache listing_formats s3api tempauth slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:proxy-logging]
use = egg:swift#proxy_logging
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:{memcached}
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = {region}
s3_acl = false
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = {secret} .admin
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
"""


class Swift:
    def __init__(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="ares-swift-"))
        self.processes = []
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self):
        self.port, memcached, *storage = free_ports(2 + len(SERVERS))
        common = {"user": getpass.getuser(), "top": self.top, "region": REGION, "secret": SECRET, "memcached": memcached}
        (self.top / "devices/d1").mkdir(parents=True)
        (self.top / "swift.conf").write_text("[swift-hash]\nswift_hash_path_prefix = a\nswift_hash_path_suffix = b\n")
        for kind, port in zip(SERVERS, storage):
            builder = self.top / f"{kind}.builder"
            for words in (["create", "4", "1", "1"], ["add", f"r1z1-127.0.0.1:{port}/d1", "1"], ["rebalance"]):
                subprocess.run(["swift-ring-builder", builder, *words], check=True, capture_output=True)
            (self.top / f"{kind}.conf").write_text(STORAGE.format(kind=kind, port=port, **common))
        (self.top / "proxy.conf").write_text(PROXY.format(port=self.port, **common))
        self.run("memcached", "-l", "127.0.0.1", "-p", str(memcached), "-u", common["user"])
        for kind in (*SERVERS, "proxy"):
            self.run(f"swift-{kind}-server", str(self.top / f"{kind}.conf"))
        for port in (memcached, *storage, self.port):
            self.listening(port)

    def run(self, *words):
        with open(self.top / f"{words[0]}.log", "wb") as log:
            self.processes.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                                   env={**os.environ, "SWIFT_CONF_FILE": str(self.top / "swift.conf")}))

    def listening(self, port, seconds=30):
        deadline = time.monotonic() + seconds
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return
            if time.monotonic() > deadline:
                raise AssertionError(f"nothing listens at port {port}\n" + self.logs())
            time.sleep(0.1)

    def logs(self):
        return "\n".join(f"{path.name}: {path.read_text(errors='replace')[-2000:]}" for path in sorted(self.top.glob("*.log")))

    def close(self):
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        shutil.rmtree(self.top, ignore_errors=True)

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    def request(self, method, path, body=b"", headers=None, secret=SECRET):
        """A signed request that Ares's own code has no part in; returns status and body."""
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        digest = hashlib.sha256(body).hexdigest()
        signed = {"host": f"127.0.0.1:{self.port}", "x-amz-content-sha256": digest, "x-amz-date": now,
                  **{name.lower(): value for name, value in (headers or {}).items()}}
        names = ";".join(sorted(signed))
        path, _, query = path.partition("?")
        canonical = "\n".join([method, urllib.parse.quote(path), query, *(f"{name}:{signed[name]}" for name in sorted(signed)), "", names, digest])
        scope = f"{now[:8]}/{REGION}/s3/aws4_request"
        key = ("AWS4" + secret).encode()
        for part in (now[:8], REGION, "s3", "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        signed["authorization"] = f"AWS4-HMAC-SHA256 Credential={KEY}/{scope}, SignedHeaders={names}, Signature={signature}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, urllib.parse.quote(path) + ("?" + query if query else ""), body, signed)
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()
