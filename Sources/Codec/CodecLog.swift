internal import CFFmpeg
internal import Platform

/// What libav and libx264 have to say. Nothing reaches standard error; lines go to a sink if there
/// is one.
package enum CodecLog {
  package enum Level: Int32, Comparable, Sendable {
    case error = 16
    case warning = 24
    case info = 32
    case debug = 48

    package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  /// Where lines go, and which.
  package struct Sink: Sendable {
    /// The least important level that is passed on.
    package var level: Level
    /// Gets a line without its newline, on any thread, codec threads included.
    package var write: @Sendable (Level, String) -> Void

    package init(level: Level, write: @escaping @Sendable (Level, String) -> Void) {
      self.level = level
      self.write = write
    }
  }

  /// Sends lines to `sink` from now on; `nil` drops them.
  package static func send(to sink: Sink?) {
    install()
    current.withLock { $0 = sink }
    nalu_log_set_level(sink?.level.rawValue ?? AV_LOG_QUIET)
  }

  /// Takes libav's log over, once per process.
  static func install() { _ = installed }

  private static let current = Lock<Sink?>(nil)

  private static let installed: Void = nalu_log_install(receiveLine)

  fileprivate static func receive(_ number: Int32, _ line: UnsafePointer<CChar>?) {
    let level: Level =
      number <= Level.error.rawValue
      ? .error : number <= Level.warning.rawValue ? .warning : number <= 32 ? .info : .debug
    let sink = current.withLock { $0 }
    guard let sink, let line else { return }
    var text = String(cString: line)
    while text.last?.isNewline == true { text.removeLast() }
    if !text.isEmpty { sink.write(level, text) }
  }
}

private let receiveLine: @convention(c) (Int32, UnsafePointer<CChar>?) -> Void = {
  CodecLog.receive($0, $1)
}
