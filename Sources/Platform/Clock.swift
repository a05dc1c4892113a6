internal import Glibc

/// Time since some fixed moment, in nanoseconds; never goes back.
package func monotonicNanoseconds() -> UInt64 {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}

/// Blocks the calling thread; never to be called on an I/O thread or a worker.
package func sleep(milliseconds: UInt32) { usleep(milliseconds * 1000) }
