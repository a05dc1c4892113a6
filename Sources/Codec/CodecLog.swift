internal import CFFmpeg
internal import Platform

/// What libav and libx264 say while they work for one job: the first few lines, and how many more
/// there were. Nothing of it reaches standard error or anybody else's messages.
///
/// While attached to a thread, it gets what that thread causes; encoders and decoders opened
/// meanwhile send what their own threads say, for as long as they live.
package final class CodecMessages: Sendable {
  package enum Level: Int32, CaseIterable, Comparable, Sendable {
    case error = 16
    case warning = 24
    case info = 32
    case debug = 48

    package var name: String {
      switch self {
      case .error: "error"
      case .warning: "warning"
      case .info: "info"
      case .debug: "debug"
      }
    }

    package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  /// A line without its newline.
  package struct Message: Equatable, Sendable {
    package var level: Level
    /// The codec or library part that spoke: `libx264`.
    package var module: String
    package var text: String
  }

  /// Messages that are kept; more are only counted.
  package static let limit = 20

  private struct State: ~Copyable {
    var messages: [Message] = []
    var omitted = 0
  }
  private let state = Lock(State())
  private let target: LogTarget

  /// - Parameter level: the least important messages that are kept; nil keeps none.
  package init(level: Level?) {
    target = LogTarget(level: level)
    target.pointer.pointee.messages = Unmanaged.passUnretained(self).toOpaque()
  }

  /// What was said since the last call, and how many messages were left out.
  package func take() -> (messages: [Message], omitted: Int) {
    state.withLock { state in
      defer { state = State() }
      return (state.messages, state.omitted)
    }
  }

  /// The calling thread works for this job from now on.
  package func attach() { nalu_log_of_thread().pointee = target.pointer }

  /// The calling thread works for nobody.
  package func detach() { nalu_log_of_thread().pointee = nil }

  fileprivate func append(_ number: Int32, _ module: String, _ line: String) {
    let level = Level.allCases.first { number <= $0.rawValue } ?? .debug
    let text = line.split(whereSeparator: \.isNewline).joined(separator: " ")
    guard !text.isEmpty else { return }
    state.withLock { state in
      guard state.messages.count < CodecMessages.limit else {
        state.omitted += 1
        return
      }
      state.messages.append(Message(level: level, module: module, text: text))
    }
  }
}

/// Whose messages a codec's are, in memory that its context points at.
final class LogTarget {
  let pointer: UnsafeMutablePointer<nalu_log_target>
  /// Kept alive for as long as the context may speak.
  private let messages: CodecMessages?

  fileprivate init(level: CodecMessages.Level?) {
    messages = nil
    pointer = .allocate(capacity: 1)
    pointer.initialize(
      to: nalu_log_target(complaints: 0, level: level?.rawValue ?? AV_LOG_QUIET, messages: nil))
  }

  /// For a context that the calling thread is about to open.
  init() {
    LogTarget.install()
    pointer = .allocate(capacity: 1)
    let current = nalu_log_of_thread().pointee?.pointee
    messages = current?.messages.map {
      Unmanaged<CodecMessages>.fromOpaque($0).takeUnretainedValue()
    }
    pointer.initialize(
      to: nalu_log_target(
        complaints: 0, level: current?.level ?? AV_LOG_QUIET, messages: current?.messages))
  }

  deinit {
    pointer.deallocate()
  }

  /// Something was wrong with what a decoder was sent.
  var hasComplaints: Bool { nalu_complaints(pointer) > 0 }

  /// Called when the context is gone, so that the target is still there until then.
  func end() {}

  /// Takes libav's log over, once per process.
  static func install() { _ = installed }

  private static let installed: Void = nalu_log_install { messages, level, module, line in
    guard let messages, let line else { return }
    Unmanaged<CodecMessages>.fromOpaque(messages).takeUnretainedValue()
      .append(level, module.map { String(cString: $0) } ?? "", String(cString: line))
  }
}

// SAFETY: the target is set up before anybody else sees it; afterwards only C counts in it,
// atomically.
extension LogTarget: @unchecked Sendable {}
