"""What the checks share: the real binary as a child process, inputs that it makes itself, and
clients that send exactly what they are told. Nothing but Python's standard library."""

import argparse
import json
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Failed(Exception):
    """A check did not hold."""


def require(condition, message):
    if not condition:
        raise Failed(message)


def arguments(description, operands=None, **options):
    """Parses `--nalu PATH`, the numbers named in `options`, and files where `operands` says what
    they are."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--nalu", default=os.path.join(ROOT, ".build/release/nalu"),
                        help="the binary (default: .build/release/nalu)")
    for name, default in options.items():
        parser.add_argument(f"--{name}", type=type(default), default=default,
                            help=f"default: {default}")
    if operands:
        parser.add_argument("files", nargs="*", metavar="FILE", help=operands)
    values = parser.parse_args()
    if not os.path.exists(values.nalu):
        sys.exit(f"{values.nalu} is missing; make build makes it.")
    return values


def run_cases(cases):
    """Calls (name, function) pairs, prints a line for each; the process's exit status."""
    failures = 0
    for name, function in cases:
        try:
            remark = function()
            print(f"ok      {name}" + (f": {remark}" if remark else ""), flush=True)
        except (Failed, OSError, subprocess.SubprocessError) as failure:
            failures += 1
            print(f"FAILED  {name}: {failure}", flush=True)
    print(f"{len(cases) - failures} of {len(cases)} hold", flush=True)
    return 1 if failures else 0


def wait_until(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not condition():
        require(time.monotonic() < deadline, f"{what}: not within {seconds} s")
        time.sleep(0.02)


class Server:
    """`nalu serve` on a free port, with a spool directory of its own."""

    def __init__(self, nalu, *options, wrapper=(), spool=None, descriptors=None, tls=None,
                 reads_log=True):
        self.own_spool = tempfile.mkdtemp(prefix="nalu-check-") if spool is None else None
        self.spool = spool or self.own_spool
        words = [*wrapper, nalu, "serve", "--port", "0", "--spool-dir", self.spool, *options]
        if tls:
            words += ["--tls-cert", tls[0], "--tls-key", tls[1]]
        self.tls = tls
        self.lines = []
        self.reads_log = reads_log
        self.listening = threading.Event()
        limit = None
        if descriptors:
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, hard))
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, text=True, preexec_fn=limit)
        self.port = None
        self.reader = threading.Thread(target=self.read_log, daemon=True)
        self.reader.start()
        if not self.listening.wait(20):
            self.kill()
            raise Failed("the server does not listen: " + " ".join(self.lines)[-300:])
        # The server itself, if a wrapper started it.
        self.pid = self.process.pid
        while wrapper and (child := first_child(self.pid)):
            self.pid = child

    def read_log(self):
        for line in self.process.stderr:
            found = re.search(r"listens on https?://\S+:(\d+)", line)
            if found:
                self.port = int(found[1])
                self.listening.set()
                if not self.reads_log:
                    return
            self.lines.append(line.rstrip("\n"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        if self.own_spool:
            shutil.rmtree(self.own_spool, ignore_errors=True)

    def kill(self):
        if self.process.poll() is None:
            if getattr(self, "pid", self.process.pid) != self.process.pid:
                signal_process(self.pid, signal.SIGKILL)
            self.process.kill()
        self.process.wait()

    def terminate(self):
        signal_process(self.pid, signal.SIGTERM)

    def jobs(self):
        """The log's lines of finished jobs."""
        found = []
        for line in list(self.lines):
            if line.startswith("{"):
                entry = json.loads(line)
                if "operation" in entry:
                    found.append(entry)
        return found

    def memory(self):
        """Resident bytes."""
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as text:
            return int(text.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def spool_files(self):
        """Files in the spool directory, those without a name included."""
        found = list(os.listdir(self.spool))
        for number in os.listdir(f"/proc/{self.pid}/fd"):
            try:
                target = os.readlink(f"/proc/{self.pid}/fd/{number}")
            except OSError:
                continue
            if target.startswith(self.spool):
                found.append(target)
        return found

    def connect(self, timeout=30):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=timeout)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.tls:
            context = ssl.create_default_context(cafile=self.tls[0])
            context.check_hostname = False
            connection = context.wrap_socket(connection, server_hostname="localhost")
        return connection

    def ask(self, method, target, body=None, headers=(), timeout=60):
        """One request on a connection of its own."""
        with self.connect(timeout) as connection:
            send_quietly(connection, head(method, target, headers, body))
            if body:
                send_quietly(connection, body)
            return Reply(connection, to_head=method == "HEAD")

    def metrics(self):
        reply = self.ask("GET", "/metrics")
        require(reply.status == 200, f"/metrics answers {reply.status}")
        return {series: float(value) for series, value in
                (line.rsplit(" ", 1) for line in reply.body.decode().splitlines()
                 if not line.startswith("#"))}

    def is_idle(self):
        figures = self.metrics()
        return (figures['nalu_jobs{state="open"}'] == 0
                and figures['nalu_jobs{state="codec"}'] == 0
                and figures['nalu_jobs{state="stepping"}'] == 0
                and figures["nalu_spool_bytes"] == 0 and not self.spool_files())


def first_child(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as text:
            children = text.read().split()
    except OSError:
        return None
    return int(children[0]) if children else None


def signal_process(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def head(method, target, headers=(), body=None, length=None):
    """The head of a request, with its empty line."""
    size = len(body) if body is not None else length
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", *headers]
    if size is not None:
        lines.append(f"Content-Length: {size}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def send_quietly(connection, data):
    """Sends; a server that has answered and closed early is not an error yet."""
    try:
        connection.sendall(data)
        return True
    except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
        return False


class Reply:
    """An answer, read to its end. `status` is 0 when the connection ended before one."""

    def __init__(self, connection, to_head=False, received=b""):
        self.status = 0
        self.headers = {}
        self.body = b""
        self.trailers = {}
        self.is_complete = False
        self.connection = connection
        self.rest = received
        try:
            self.read(to_head)
        except (ConnectionResetError, ssl.SSLError):
            pass

    def more(self):
        piece = self.connection.recv(1 << 17)
        self.rest += piece
        return bool(piece)

    def line(self):
        while b"\n" not in self.rest:
            if not self.more():
                return None
        line, self.rest = self.rest.split(b"\n", 1)
        return line.rstrip(b"\r").decode("latin-1")

    def take(self, size):
        while len(self.rest) < size:
            if not self.more():
                return None
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def fields(self):
        fields = {}
        while line := self.line():
            name, _, value = line.partition(":")
            fields[name.lower()] = value.strip()
        return fields

    def read(self, to_head):
        first = self.line()
        if not first:
            return
        self.status = int(first.split()[1])
        self.headers = self.fields()
        if to_head or self.status < 200 or self.status == 204:
            self.is_complete = True
        elif "content-length" in self.headers:
            body = self.take(int(self.headers["content-length"]))
            self.is_complete = body is not None
            self.body = self.rest if body is None else body
        elif self.headers.get("transfer-encoding") == "chunked":
            parts = []
            while (size := self.line()) is not None:
                if int(size, 16) == 0:
                    self.trailers = self.fields()
                    self.is_complete = True
                    break
                part = self.take(int(size, 16))
                if part is None or self.line() != "":
                    break
                parts.append(part)
            self.body = b"".join(parts)
        else:
            while self.more():
                pass
            self.body, self.rest = self.rest, b""
            self.is_complete = True

    @property
    def code(self):
        """The code of a problem."""
        if self.headers.get("content-type") != "application/problem+json":
            return None
        return json.loads(self.body)["code"]


def is_closed(connection, seconds=3):
    """Whether the server ends the connection before it says another word."""
    connection.settimeout(seconds)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def frames(width, height, count, noisy=False):
    """Headerless 4:2:0 frames: a moving ramp, or noise that is the same every time."""
    size = width * height * 3 // 2
    if not noisy:
        ramp = bytes((3 * index) & 255 for index in range(size + 256))
        return b"".join(ramp[7 * frame % 256:][:size] for frame in range(count))
    state, words = 1, []
    for _ in range(size // 4 + 1):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        words.append(state.to_bytes(4, "little"))
    noise = b"".join(words)
    return b"".join((noise[frame:] + noise[:frame])[:size] for frame in range(count))


def encode(nalu, width, height, count, noisy=False, **settings):
    """H.264 that the binary makes of such frames."""
    words = [nalu, "encode", "--width", str(width), "--height", str(height)]
    for name, value in settings.items():
        words += [f"--{name}", str(value)]
    result = subprocess.run(words, input=frames(width, height, count, noisy), check=False,
                            capture_output=True)
    if result.returncode:
        raise Failed(f"nalu encode ended with {result.returncode}: {result.stderr.decode()}")
    return result.stdout


def remux(nalu, stream, form):
    """The stream in a container, as the binary makes it."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(stream)
        file.flush()
        result = subprocess.run([nalu, "remux", "--format", form, file.name], check=False,
                                capture_output=True)
    if result.returncode:
        raise Failed(f"nalu remux ended with {result.returncode}: {result.stderr.decode()}")
    return result.stdout


def certificate(directory):
    """A self-signed certificate for localhost and its key, as files."""
    if not shutil.which("openssl"):
        raise Failed("openssl is missing; it is in the package openssl")
    paths = os.path.join(directory, "cert.pem"), os.path.join(directory, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                    "-out", paths[0], "-keyout", paths[1]], check=True, capture_output=True)
    return paths


def raise_descriptor_limit():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def slope(samples):
    """Least squares: change a minute of (second, value) pairs."""
    count = len(samples)
    if count < 2:
        return 0.0
    mean_time = sum(time for time, _ in samples) / count
    mean = sum(value for _, value in samples) / count
    spread = sum((time - mean_time) ** 2 for time, _ in samples)
    if spread == 0:
        return 0.0
    return 60 * sum((time - mean_time) * (value - mean) for time, value in samples) / spread
