internal import CMalloc
internal import Dispatch
internal import Glibc

/// Ends the process with a status.
package func exitProcess(_ status: Int32) -> Never { exit(status) }

/// The value of an environment variable, if it is set.
package func environmentVariable(_ name: String) -> String? {
  getenv(name).map { String(cString: $0) }
}

/// Processors that are online.
package func availableProcessors() -> Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

/// Raises the soft limit of open descriptors as far as the hard limit allows; returns it.
@discardableResult
package func raiseDescriptorLimit() -> Int {
  var limit = rlimit()
  guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
  limit.rlim_cur = limit.rlim_max
  _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  return Int(clamping: limit.rlim_cur)
}

/// Writing to a closed pipe or socket is an error of that call, not the end of the process.
package func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

/// A signal that the process reacts to instead of dying.
package enum ProcessSignal: Int32, Sendable {
  case hangUp = 1
  case interrupt = 2
  case brokenPipe = 13
  case terminate = 15
}

/// Ends the process as if the signal had not been watched.
package func die(of signal: ProcessSignal) -> Never {
  Glibc.signal(signal.rawValue, SIG_DFL)
  // A watched signal is blocked in threads that it has reached.
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, signal.rawValue)
  pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  raise(signal.rawValue)
  exit(128 + signal.rawValue)
}

/// Whoever started the process wants it to outlive its terminal, as `nohup` does.
package func ignoresHangUp() -> Bool {
  var action = sigaction()
  guard sigaction(SIGHUP, nil, &action) == 0 else { return false }
  return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    == unsafeBitCast(SIG_IGN, to: Int.self)
}

/// Removes a file.
package func removeFile(_ path: String) { unlink(path) }

/// Keeps signals waiting, in this thread and those that it starts, until a `SignalWatch` takes them:
/// to be called before other threads are there.
package func holdSignals(_ signals: [ProcessSignal]) {
  var set = sigset_t()
  sigemptyset(&set)
  for held in signals { sigaddset(&set, held.rawValue) }
  pthread_sigmask(SIG_BLOCK, &set, nil)
}

/// Calls `handle` on a Dispatch queue whenever one of `signals` arrives, while this object lives. One
/// that comes, or has been held, before all of this is set up is not lost.
package final class SignalWatch {
  private let sources: [any DispatchSourceSignal]

  package init(_ signals: [ProcessSignal], _ handle: @escaping @Sendable (ProcessSignal) -> Void) {
    // Dispatch sets the signal's handler when it registers the source, which it does later on a
    // thread of its own. To ignore the signal until then would lose it, and one that waits too.
    holdSignals(signals)
    let registered = DispatchSemaphore(value: 0)
    sources = signals.map { watched in
      let source = DispatchSource.makeSignalSource(
        signal: watched.rawValue, queue: .global(qos: .userInitiated))
      source.setEventHandler { handle(watched) }
      source.setRegistrationHandler { registered.signal() }
      source.activate()
      return source
    }
    for _ in signals { registered.wait() }
  }

  deinit {
    for source in sources { source.cancel() }
  }
}

/// Gives memory that was freed back to the system, as far as it lies in whole pages.
package func returnFreeMemory() { malloc_trim(0) }

/// Memory of this process that is in RAM, in bytes; 0 where that cannot be told.
package func residentBytes() -> Int {
  guard let text = try? readTextFile("/proc/self/statm", limit: 256) else { return 0 }
  let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  return pages * sysconf(Int32(_SC_PAGESIZE))
}
