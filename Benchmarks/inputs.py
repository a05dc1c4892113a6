"""The inputs, made by ffmpeg once and kept in a directory."""

import os
import subprocess

from measure import Failed

# A moving drawing with grain: hard enough to be like a film, and the same everywhere.
FILM = "testsrc2=size={size}:rate=25,noise=alls=12:allf=t,format=yuv420p"
DRAWING = "testsrc2=size={size}:rate=25,format=yuv420p"


class Inputs:
    def __init__(self, directory, quick):
        self.directory = directory
        self.quick = quick

    def path(self, name):
        return os.path.join(self.directory, name)

    def raw(self, size, frames):
        """Headerless 4:2:0 frames."""
        return self.made(f"film-{size}-{frames}.yuv", FILM.format(size=size), frames,
                         "-f", "rawvideo")

    def film(self, size, frames, rate):
        """H.264 as x264 makes it by default, at a bit rate."""
        return self.made(f"film-{size}-{frames}.h264", FILM.format(size=size), frames,
                         "-c:v", "libx264", "-preset", "medium", "-b:v", rate, "-g", "50",
                         "-f", "h264")

    def movie(self, size, frames, rate):
        """MP4 with AAC beside the pictures."""
        source = (f"{FILM.format(size=size)}[out0];"
                  f"sine=frequency=440:duration={frames / 25}[out1]")
        return self.made(f"movie-{size}-{frames}.mp4", source, frames,
                         "-c:v", "libx264", "-preset", "medium", "-b:v", rate, "-g", "50",
                         "-c:a", "aac", "-f", "mp4")

    def drawing(self, size, frames):
        """H.264 without grain."""
        return self.made(f"drawing-{size}-{frames}.h264", DRAWING.format(size=size), frames,
                         "-c:v", "libx264", "-g", "50", "-f", "h264")

    def long_film(self, size):
        """Ten seconds of 720p at 6 Mbit/s, again and again until there are `size` bytes."""
        return self.repeated(self.film("1280x720", 250, "6M"), size)

    def repeated(self, file, size):
        path = f"{os.path.splitext(file)[0]}-{size // 1_000_000}MB.h264"
        if os.path.exists(path):
            return path
        with open(file, "rb") as source:
            content = source.read()
        with open(path + ".part", "wb") as copy:
            for _ in range(-(-size // len(content))):
                copy.write(content)
        os.rename(path + ".part", path)
        return path

    def long_mp4(self, size):
        """The same film in an MP4 file whose index comes first."""
        return self.rewrapped(self.long_film(size), "mp4", "-movflags", "+faststart")

    def rewrapped(self, file, extension, *options):
        """The pictures of an Annex B file in a container."""
        path = f"{os.path.splitext(file)[0]}.{extension}"
        if not os.path.exists(path):
            part = f"{path}.part.{extension}"
            subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-r", "25", "-i", file,
                            "-c", "copy", *options, part], check=True)
            os.rename(part, path)
        return path

    def many_units(self, count):
        """Parameter sets and then slices of a few bytes, `count` NAL units in all."""
        path = self.path(f"units-{count}.h264")
        if os.path.exists(path):
            return path
        first = self.made("tiny.h264", DRAWING.format(size="32x32"), 1, "-c:v", "libx264",
                          "-bf", "0", "-bsf:v", "filter_units=remove_types=6", "-f", "h264")
        with open(first, "rb") as source:
            head = source.read()
        # IDR slices by turns of idr_pic_id 1 and 0, with a whole header and a byte of data:
        # first_mb_in_slice 0, slice_type 7, pic_parameter_set_id 0, frame_num 0, idr_pic_id,
        # dec_ref_pic_marking of zeros, slice_qp_delta 0, disable_deblocking_filter_idc 1.
        pair = b"\0\0\1\x65\x88\x82\x2B\x5A" + b"\0\0\1\x65\x88\x84\xAF\x5A"
        units = count - head.count(b"\0\0\1")
        with open(path + ".part", "wb") as copy:
            copy.write(head)
            copy.write((pair * (units // 2 + 1))[:units * len(pair) // 2])
        os.rename(path + ".part", path)
        return path

    def made(self, name, source, frames, *output):
        path = self.path(name)
        if os.path.exists(path):
            return path
        part = path + ".part"
        words = ["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", source,
                 "-frames:v", str(frames), *output, part]
        result = subprocess.run(words, capture_output=True, check=False)
        if result.returncode:
            raise Failed(f"ffmpeg could not make {name}: {result.stderr.decode()[-300:]}")
        os.rename(part, path)
        return path
