"""What is measured, and what is wanted of it."""

import os
import statistics
import tempfile
from dataclasses import dataclass

from measure import (Connection, Failed, alternate, curl, high_water, post_repeated,
                     request_rate, run, run_together, serving, warm)

MB = 1_000_000
MIB = 1 << 20
THREADS = 2


@dataclass
class Row:
    """One line of the table: seconds, bytes, or how often a second; `unit` is "s", "B" or "/s"."""
    nalu: float
    peer: float | None
    # "faster": peer/nalu at least; "cost": nalu/peer at most; "below": nalu itself.
    rule: str
    wanted: float
    unit: str = "s"
    name: str = ""

    @property
    def ratio(self):
        if self.peer is None:
            return None
        is_cost = self.rule == "cost" or self.unit in ("B", "/s")
        return self.nalu / self.peer if is_cost else self.peer / self.nalu

    @property
    def is_met(self):
        if self.rule == "below":
            return self.nalu < self.wanted
        # As precise as it is printed.
        ratio = round(self.ratio, 2)
        return ratio <= self.wanted if self.rule == "cost" else ratio >= self.wanted


class Bench:
    """What every case needs: programs, inputs, how often."""

    def __init__(self, nalu, sink, plain, inputs, quick):
        self.nalu = nalu
        self.sink = sink
        self.plain = plain
        self.inputs = inputs
        self.quick = quick

    def rounds(self, count):
        return min(count, 3) if self.quick else count

    def log(self, name):
        return os.path.join(self.inputs.directory, name + ".log")

    def serve(self, *options):
        return serving([self.nalu, "serve", "--port", "0", *options],
                       r"listens on (http://\S+)", self.log("nalu"))

    def discard(self):
        return self.serve_peer(self.sink)

    def serve_peer(self, program):
        if not os.path.exists(program):
            raise Failed(f"{program} is not there; NALU_BENCH=1 swift build -c release makes it")
        return serving([program], r"(http://\S+)", self.log(os.path.basename(program)))

    def film(self, megabytes):
        file = self.inputs.long_film((megabytes // 10 if self.quick else megabytes) * MB)
        warm(file)
        return file


# Inspecting.

def inspect(bench, megabytes, wanted, *options):
    file = bench.film(megabytes)
    nalu, peer = alternate(
        lambda: run([bench.nalu, "inspect", *options, file])[0],
        lambda: run(["ffprobe", "-v", "error", "-show_packets", "-of", "json", file])[0],
        bench.rounds(5))
    return [Row(nalu, peer, "faster", wanted)]


def inspect_mp4(bench, megabytes, wanted):
    file = bench.inputs.long_mp4((megabytes // 10 if bench.quick else megabytes) * MB)
    warm(file)
    nalu, peer = alternate(
        lambda: run([bench.nalu, "inspect", file])[0],
        lambda: run(["ffprobe", "-v", "error", "-show_packets", "-of", "json", file])[0],
        bench.rounds(5))
    return [Row(nalu, peer, "faster", wanted)]


def inspect_upload(bench):
    file = bench.film(375)
    with bench.serve() as (address, _), bench.discard() as (sink, _):
        nalu, peer = alternate(
            lambda: run(curl(f"{address}/inspect", file))[0],
            lambda: run(curl(f"{sink}/", file))[0], bench.rounds(15))
    return [Row(nalu, peer, "cost", 1.25)]


def inspect_small(bench):
    file = bench.inputs.film("320x240", 30, "300k")
    probe = ["ffprobe", "-v", "error", "-show_packets", "-of", "json", file]
    nalu, peer = small_requests(bench, "/inspect", file, lambda: run(probe)[0])
    return [Row(nalu, peer, "below", 0.001)]


def small_requests(bench, target, file, peer):
    """A small request over a kept connection by turns with a process that does the same."""
    with open(file, "rb") as source:
        body = source.read()
    with bench.serve() as (address, _), Connection(address) as connection:
        for _ in range(50):
            connection.post(target, body)
        requests, starts = [], []
        for _ in range(bench.rounds(20)):
            requests += [connection.post(target, body) for _ in range(20)]
            starts.append(peer())
    return statistics.median(requests), statistics.median(starts)


# Encoding.

SETTINGS = ["-f", "rawvideo", "-pix_fmt", "yuv420p"]


def ffmpeg_encode(file, size, preset, output="/dev/null", threads=THREADS):
    return ["ffmpeg", "-nostdin", "-v", "error", "-y", *SETTINGS, "-s", size, "-r", "25",
            "-i", file, "-c:v", "libx264", "-preset", preset, "-crf", "23", "-g", "50",
            "-threads", threads, "-f", "h264", output]


def encode_target(size, preset, threads=THREADS):
    width, height = size.split("x")
    return (f"/encode?width={width}&height={height}&fps=25&preset={preset}&crf=23"
            f"&threads={threads}")


def encode(bench, preset, frames, count, threads=1):
    file = bench.inputs.raw("1280x720", frames // 4 if bench.quick else frames)
    warm(file)
    out, peer_out = bench.inputs.path("nalu.h264"), bench.inputs.path("ffmpeg.h264")
    with bench.serve() as (address, _):
        url = address + encode_target("1280x720", preset, threads)
        nalu, peer = alternate(
            lambda: run(curl(url, file, out))[0],
            lambda: run(ffmpeg_encode(file, "1280x720", preset, peer_out, threads))[0],
            bench.rounds(count))
    # Other settings would give another size.
    sizes = os.path.getsize(out), os.path.getsize(peer_out)
    if abs(sizes[0] - sizes[1]) > sizes[1] / 100:
        raise Failed(f"the encoders do not do the same: {sizes[0]} and {sizes[1]} bytes")
    return [Row(nalu, peer, "faster", 0.97)]


def encode_two(bench, threads=1):
    file = bench.inputs.raw("1280x720", 25 if bench.quick else 100)
    warm(file)
    peer = ffmpeg_encode(file, "1280x720", "veryfast", threads=threads)
    with bench.serve() as (address, _):
        client = curl(address + encode_target("1280x720", "veryfast", threads), file)
        times = alternate(lambda: run_together(client, client),
                          lambda: run_together(peer, peer), bench.rounds(5))
    return [Row(*times, "cost", 1.0)]


def encode_small(bench):
    file = bench.inputs.raw("176x144", 1)
    times = small_requests(bench, encode_target("176x144", "medium"), file,
                           lambda: run(ffmpeg_encode(file, "176x144", "medium"))[0])
    return [Row(*times, "faster", 20)]


# Decoding.

def decode_yuv(bench, over_http):
    file = bench.inputs.film("1280x720", 250, "6M")
    warm(file)
    peer = ["ffmpeg", "-nostdin", "-v", "error", "-threads", THREADS, "-i", file, "-f", "rawvideo",
            "-"]
    with bench.serve("--max-threads", str(THREADS)) as (address, _):
        if over_http:
            nalu = [curl(f"{address}/decode?format=yuv", file)]
        else:
            nalu = [[bench.nalu, "decode", "--format", "yuv", file], ["cat"]]
        times = alternate(lambda: run(*nalu)[0], lambda: run(peer, ["cat"])[0], bench.rounds(7))
    return [Row(*times, "faster", 0.9)]


def decode_png(bench, file):
    warm(file)
    archive = bench.inputs.path("frames.zip")
    with bench.serve() as (address, _), tempfile.TemporaryDirectory(
            dir=bench.inputs.directory) as images:
        nalu, peer = alternate(
            lambda: run(curl(f"{address}/decode?format=png&frames=all", file, archive))[0],
            lambda: run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", file,
                         os.path.join(images, "out%d.png")])[0], bench.rounds(5))
        size = sum(entry.stat().st_size for entry in os.scandir(images))
    return [Row(nalu, peer, "faster", 2),
            Row(os.path.getsize(archive), size, "cost", 1.15, "B", ", bytes")]


def decode_small(bench):
    file = bench.inputs.film("640x360", 100, "1M")
    image = bench.inputs.path("first.png")
    words = ["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", file, "-frames:v", "1", image]
    times = small_requests(bench, "/decode", file, lambda: run(words)[0])
    return [Row(*times, "faster", 5)]


# Transcoding.

def transcode(bench, preset, frames):
    file = bench.inputs.movie("1280x720", frames // 4 if bench.quick else frames, "6M")
    warm(file)
    out, peer_out = bench.inputs.path("nalu.mp4"), bench.inputs.path("ffmpeg.mp4")
    peer = ["ffmpeg", "-nostdin", "-v", "error", "-y", "-threads", THREADS, "-i", file,
            "-c:v", "libx264", "-preset", preset, "-crf", "23", "-g", "50", "-threads", THREADS,
            "-c:a", "copy", peer_out]
    with bench.serve("--max-threads", str(THREADS)) as (address, _):
        url = f"{address}/transcode?format=mp4&preset={preset}&crf=23&scenecut=1&gop=50"
        nalu, other = alternate(lambda: run(curl(url, file, out))[0], lambda: run(peer)[0],
                                bench.rounds(5))
    # Other settings would give another size.
    sizes = os.path.getsize(out), os.path.getsize(peer_out)
    if abs(sizes[0] - sizes[1]) > sizes[1] / 50:
        raise Failed(f"the encoders do not do the same: {sizes[0]} and {sizes[1]} bytes")
    return [Row(nalu, other, "faster", 0.97)]


# Many small requests.

def health(bench):
    seconds = 1 if bench.quick else 3
    with bench.serve() as (address, _), bench.serve_peer(bench.plain) as (plain, _):
        nalu, peer = alternate(lambda: request_rate(f"{address}/healthz", 32, seconds),
                               lambda: request_rate(f"{plain}/healthz", 32, seconds),
                               bench.rounds(7))
    return [Row(nalu, peer, "faster", 0.6, "/s")]


def inspect_crowd(bench):
    """64 clients, and a shell loop that keeps two ffprobe processes going."""
    file = bench.inputs.film("320x240", 30, "300k")
    seconds, starts = (1, 10) if bench.quick else (4, 40)
    loop = (f"seq {starts} | xargs -P 2 -I{{}} ffprobe -v error -show_packets -of json '{file}'")
    with bench.serve() as (address, _):
        nalu, peer = alternate(lambda: request_rate(f"{address}/inspect", 64, seconds, file),
                               lambda: starts / run(["sh", "-c", loop])[0], bench.rounds(5))
    return [Row(nalu, peer, "faster", 25, "/s")]


# Remuxing.

def remux(bench, is_bare):
    film = bench.film(300)
    words = ["ffmpeg", "-nostdin", "-v", "error", "-y", "-i"]
    if not is_bare:
        movie = os.path.splitext(film)[0] + ".mp4"
        if not os.path.exists(movie):
            run([*words, film, "-c", "copy", movie])
        film = movie
    warm(film)
    out, peer_out = bench.inputs.path("nalu.mp4"), bench.inputs.path("ffmpeg.mp4")
    nalu, peer = alternate(
        lambda: run([bench.nalu, "remux", "--format", "mp4", film, "-o", out])[0],
        lambda: run([*words, film, "-c", "copy", "-movflags", "faststart", peer_out])[0],
        bench.rounds(5))
    return [Row(nalu, peer, "faster", 1)]


# Memory.

def memory_encode(bench):
    size = MIB * (128 if bench.quick else 1024)
    file = bench.inputs.raw("1280x720", 50)
    with bench.serve() as (address, server):
        # A whole number of frames, because the file is one.
        post_repeated(address + encode_target("1280x720", "ultrafast"), file, size)
        nalu = high_water(server)
    peer = run(ffmpeg_encode(file, "1280x720", "ultrafast"))[1]
    return [Row(nalu, peer, "below", 200 * MB, "B")]


def memory_ndjson(bench):
    file = bench.film(375)
    with bench.serve() as (address, server):
        post_repeated(f"{address}/inspect?format=ndjson", file, MIB * (256 if bench.quick else 2048))
        return [Row(high_water(server), None, "below", 64 * MB, "B")]


def memory_json(bench):
    file = bench.inputs.many_units(MB)
    with bench.serve() as (address, server):
        run(curl(f"{address}/inspect", file))
        return [Row(high_water(server), None, "below", 250 * MB, "B")]


CASES = {
    "inspect-375MB": lambda bench: inspect(bench, 375, 4),
    "inspect-1500MB": lambda bench: inspect(bench, 1500, 6),
    "inspect-mp4": lambda bench: inspect_mp4(bench, 300, 3),
    "inspect-all": lambda bench: inspect(bench, 375, 3, "--include", "all"),
    "inspect-upload": inspect_upload,
    "inspect-small": inspect_small,
    "encode-ultrafast": lambda bench: encode(bench, "ultrafast", 300, 7),
    "encode-veryfast": lambda bench: encode(bench, "veryfast", 100, 5),
    "encode-medium": lambda bench: encode(bench, "medium", 40, 5),
    "encode-two": encode_two,
    "encode-threads-ultrafast": lambda bench: encode(bench, "ultrafast", 300, 7, THREADS),
    "encode-threads-veryfast": lambda bench: encode(bench, "veryfast", 100, 5, THREADS),
    "encode-threads-two": lambda bench: encode_two(bench, THREADS),
    "encode-small": encode_small,
    "decode-yuv": lambda bench: decode_yuv(bench, over_http=False),
    "decode-yuv-http": lambda bench: decode_yuv(bench, over_http=True),
    "decode-png": lambda bench: decode_png(bench, bench.inputs.film("1280x720", 25, "6M")),
    "decode-png-drawn": lambda bench: decode_png(bench, bench.inputs.drawing("1280x720", 25)),
    "decode-small": decode_small,
    "transcode-ultrafast": lambda bench: transcode(bench, "ultrafast", 250),
    "transcode-medium": lambda bench: transcode(bench, "medium", 60),
    "remux-bare": lambda bench: remux(bench, is_bare=True),
    "remux-mp4": lambda bench: remux(bench, is_bare=False),
    "healthz": health,
    "inspect-crowd": inspect_crowd,
    "memory-encode": memory_encode,
    "memory-ndjson": memory_ndjson,
    "memory-json": memory_json,
}
