"""Runs processes, a server and requests, and says how long they took and how much memory."""

import os
import re
import socket
import statistics
import subprocess
import tempfile
import time
from contextlib import contextmanager


class Failed(Exception):
    """A measurement could not be made."""


def run(*commands, out=None):
    """Runs a pipeline; (seconds, largest resident size of the first process in bytes)."""
    with open(out or os.devnull, "wb") as last:
        start = time.perf_counter()
        processes = []
        for index, words in enumerate(commands):
            is_last = index == len(commands) - 1
            processes.append(subprocess.Popen(
                [str(word) for word in words],
                stdin=processes[-1].stdout if processes else subprocess.DEVNULL,
                stdout=last if is_last else subprocess.PIPE, stderr=subprocess.PIPE))
            if index:
                processes[index - 1].stdout.close()
        usage = [finish(process) for process in processes]
        return time.perf_counter() - start, usage[0].ru_maxrss << 10


def run_together(*commands):
    """Runs processes at once; seconds until the last has ended."""
    start = time.perf_counter()
    processes = [
        subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for words in commands]
    for process in processes:
        finish(process)
    return time.perf_counter() - start


def finish(process):
    """Waits for a process that succeeds, and says little; what it used."""
    complaint = process.stderr.read().decode(errors="replace").strip() if process.stderr else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Failed(f"{process.args[0]} ended with {process.returncode}: {complaint[-300:]}")
    return usage


def curl(url, file, out=None):
    """The words of a curl call that posts a file, or standard input as `-`."""
    return ["curl", "-sS", "--fail-with-body", "--noproxy", "*", "-H", "Expect:", "-X", "POST",
            "-T", file, "-o", out or os.devnull, url]


def post_repeated(url, file, size):
    """Posts a file again and again, chunked, until at least `size` bytes are sent."""
    client = subprocess.Popen(curl(url, "-"), stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    sent = 0
    try:
        while sent < size:
            with open(file, "rb") as source:
                while block := source.read(1 << 20):
                    client.stdin.write(block)
                    sent += len(block)
        client.stdin.close()
    except BrokenPipeError:
        pass
    finish(client)


@contextmanager
def serving(words, pattern, log):
    """Starts a server and waits for the address that it prints; (address, process)."""
    with open(log, "wb") as output:
        server = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL,
                                  stdout=output, stderr=output)
    try:
        for _ in range(200):
            with open(log, encoding="utf-8") as lines:
                found = re.search(pattern, lines.read())
            if found:
                break
            if server.poll() is not None:
                raise Failed(f"{words[0]} ended with {server.returncode}; see {log}")
            time.sleep(0.05)
        else:
            raise Failed(f"{words[0]} does not say where it listens; see {log}")
        yield found[1], server
    finally:
        server.terminate()
        server.wait()


def request_rate(url, clients, seconds, file=None):
    """Requests a second that wrk gets answered on kept connections, each with a file posted."""
    words = ["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "--timeout", "20s"]
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        if file:
            script.write(f'wrk.method = "POST"\nwrk.body = io.open("{file}", "rb"):read("*a")\n')
            script.flush()
            words += ["-s", script.name]
        output = subprocess.run([*words, url], capture_output=True, text=True, check=True).stdout
    rate = re.search(r"Requests/sec:\s+([\d.]+)", output)
    if not rate or "Non-2xx" in output or "Socket errors" in output:
        raise Failed(f"{url}: {output.strip()[-300:]}")
    return float(rate[1])


def high_water(process):
    """The largest resident size that a running process has had, in bytes."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as lines:
        return int(re.search(r"VmHWM:\s+(\d+) kB", lines.read())[1]) << 10


class Connection:
    """A kept connection that posts small bodies with as little work as possible."""

    def __init__(self, address):
        host, port = address.removeprefix("http://").split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def post(self, target, body):
        """Seconds until the answer, which must be a 200, is there in full."""
        request = (f"POST {target} HTTP/1.1\r\nHost: localhost\r\n"
                   f"Content-Length: {len(body)}\r\n\r\n").encode() + body
        start = time.perf_counter()
        self.socket.sendall(request)
        received = self.read(b"", lambda bytes: b"\r\n\r\n" in bytes)
        head, rest = received.split(b"\r\n\r\n", 1)
        if not head.startswith(b"HTTP/1.1 200 "):
            raise Failed(f"{target}: {head.splitlines()[0].decode()}")
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        if length:
            self.read(rest, lambda bytes: len(bytes) >= int(length[1]))
        else:
            self.read(rest, ends_chunked)
        return time.perf_counter() - start

    def read(self, received, is_complete):
        while not is_complete(received):
            more = self.socket.recv(1 << 18)
            if not more:
                raise Failed("the server closed the connection")
            received += more
        return received


def ends_chunked(bytes):
    """Whether a chunked body and its trailers are there (RFC 9112 §7.1)."""
    position = 0
    while (end := bytes.find(b"\r\n", position)) >= 0:
        size = int(bytes[position:end].split(b";")[0], 16)
        if size == 0:
            return bytes.endswith(b"\r\n\r\n")
        position = end + 2 + size + 2
        if position > len(bytes):
            return False
    return False


def alternate(nalu, peer, rounds):
    """Calls both by turns, after one call each that does not count; the median of each."""
    nalu(), peer()
    times = [(nalu(), peer()) for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*times)]


def warm(file):
    """Brings a file into the page cache."""
    with open(file, "rb", buffering=0) as source:
        buffer = bytearray(1 << 20)
        while source.readinto(buffer):
            pass
