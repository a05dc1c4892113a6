"""Plays files in a headless Chromium, and asks what it saw."""

import http.server
import json
import shutil
import subprocess
import tempfile
import threading

import nalu

PAGE = """<!doctype html><script>
const names = %s;
async function play(name) {
  const video = document.createElement('video');
  video.muted = true;
  document.body.append(video);
  const end = new Promise(resolve => {
    video.onended = () => resolve('ended');
    video.onerror = () => resolve('error: ' + video.error.message);
    setTimeout(() => resolve('stuck at ' + video.currentTime), 30000);
  });
  if (name.endsWith('-mse')) {
    const source = new MediaSource();
    video.src = URL.createObjectURL(source);
    await new Promise(resolve => source.onsourceopen = resolve);
    const bytes = await (await fetch('/' + name)).arrayBuffer();
    const buffer = source.addSourceBuffer('video/mp4; codecs="' + codec(new Uint8Array(bytes)) + '"');
    for (let start = 0; start < bytes.byteLength; start += 10000) {
      buffer.appendBuffer(bytes.slice(start, start + 10000));
      await new Promise(resolve => buffer.onupdateend = resolve);
    }
    source.endOfStream();
  } else {
    video.src = '/' + name;
  }
  await video.play();
  return {end: await end, duration: video.duration, width: video.videoWidth,
          height: video.videoHeight, frames: video.getVideoPlaybackQuality().totalVideoFrames};
}
function codec(bytes) {
  // Behind the name avcC come a version and the three bytes that name the codec.
  for (let at = 0; at + 8 < bytes.length; at++)
    if (String.fromCharCode(...bytes.slice(at, at + 4)) == 'avcC')
      return 'avc1.' + [...bytes.slice(at + 5, at + 8)]
        .map(byte => byte.toString(16).padStart(2, '0')).join('');
}
onload = async () => {
  const seen = {};
  await Promise.all(names.map(async name => {
    try { seen[name] = await play(name); } catch (error) { seen[name] = {end: String(error)}; }
  }));
  await fetch('/seen', {method: 'POST', body: JSON.stringify(seen)});
};
</script><body>"""


def find():
    """The browser's path; None where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.lstrip("/")
        if name == "":
            body, kind = (PAGE % json.dumps(list(self.server.files))).encode(), "text/html"
        elif name in self.server.files:
            body, kind = self.server.files[name].read_bytes(), "video/mp4"
        else:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.server.seen = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.server.is_done.set()

    def log_message(self, *_):
        pass


def play(chromium, files):
    """What Chromium says of each file that it played; `…-mse` goes through MediaSource."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, \
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        server.files, server.seen, server.is_done = files, {}, threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        process = subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--autoplay-policy=no-user-gesture-required", f"--user-data-dir={profile}",
             f"http://127.0.0.1:{server.server_address[1]}/"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            nalu.require(server.is_done.wait(60), "Chromium does not answer")
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            server.shutdown()
        return server.seen
