internal import Glibc

/// What a command writes: a file, or standard output.
///
/// A file gets its name only when it is complete (`commit`): until then what had that name stays as
/// it was, and a failure, a signal or a crash leaves nothing behind. Devices and pipes are written
/// to directly, and so are files in directories that cannot have a new one.
package struct OutputFile: ~Copyable {
  private let descriptor: Int32
  /// What the file will be called; nil for what is written to directly.
  private let name: String?
  /// What the file is called until then, where the file system has no files without a name.
  package let temporaryName: String?

  /// Nil or `-` is standard output.
  package init(path: String?) throws(SystemError) {
    guard let path, path != "-" else {
      descriptor = 1
      name = nil
      temporaryName = nil
      return
    }
    var status = stat()
    let exists = stat(path, &status) == 0
    if exists, status.st_mode & S_IFMT != S_IFREG {
      let opened = open(path, O_WRONLY | O_CLOEXEC)
      guard opened >= 0 else { throw SystemError("open") }
      descriptor = opened
      name = nil
      temporaryName = nil
      return
    }
    let final = OutputFile.resolved(path)
    let opened: Int32
    let temporary: String?
    do throws(SystemError) {
      (opened, temporary) = try OutputFile.create(for: final)
    } catch {
      // The file may be changed, though the directory gives it no successor.
      let isForbidden = [EACCES, EPERM, EROFS].contains(error.number)
      let inPlace =
        exists && isForbidden ? open(path, O_WRONLY | O_TRUNC | O_CLOEXEC) : -1
      guard inPlace >= 0 else { throw error }
      descriptor = inPlace
      name = nil
      temporaryName = nil
      return
    }
    if exists { _ = fchmod(opened, status.st_mode & 0o7777) }
    descriptor = opened
    name = final
    temporaryName = temporary
  }

  deinit {
    if descriptor > 1 { close(descriptor) }
  }

  private static func create(
    for path: String
  ) throws(SystemError) -> (descriptor: Int32, temporaryName: String?) {
    let directory = path.lastIndex(of: "/").map { path[...$0] } ?? "."
    // A file without a name gets one by its path in /proc.
    if access("/proc/self/fd", X_OK) == 0,
      let opened = try openUnnamedFile(in: String(directory), mode: 0o666, isLinkable: true)
    {
      return (opened, nil)
    }
    let (opened, name) = try openNamedFile("\(path).")
    let mask = umask(0)
    umask(mask)
    _ = fchmod(opened, 0o666 & ~mask)
    return (opened, name)
  }

  /// A person would see the bytes.
  package var isTerminal: Bool { isatty(descriptor) == 1 }

  package borrowing func write(_ bytes: Span<UInt8>) throws(SystemError) {
    try writeAll(bytes, to: descriptor)
  }

  /// The result is complete: the file gets its name.
  package borrowing func commit() throws(SystemError) {
    guard let name else { return }
    if let temporaryName {
      try replace(name, by: temporaryName)
    } else if !(try link(as: name)) {
      // A link does not replace what is there; a new name does.
      var other: String
      repeat {
        other = "\(name).\(String(UInt32.random(in: .min ... .max), radix: 36))"
      } while !(try link(as: other))
      try replace(name, by: other)
    }
  }

  /// Gives the file a name; false when that is taken.
  private borrowing func link(as name: String) throws(SystemError) -> Bool {
    if linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 {
      return true
    }
    guard errno == EEXIST else { throw SystemError("linkat") }
    return false
  }

  private borrowing func replace(_ name: String, by other: String) throws(SystemError) {
    guard rename(other, name) == 0 else {
      let error = SystemError("rename")
      unlink(other)
      throw error
    }
  }

  /// There is no result: nothing is left of the file.
  package borrowing func discard() {
    if let temporaryName { unlink(temporaryName) }
  }

  /// Where symbolic links lead, so that the file they name is replaced, or made, and not the link.
  private static func resolved(_ path: String) -> String {
    var path = path
    // As many as the system follows.
    for _ in 0..<40 {
      let limit = Int(PATH_MAX)
      var target = [CChar](repeating: 0, count: limit)
      let count = readlink(path, &target, limit)
      guard count > 0 else { break }
      let name = String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let directory = name.hasPrefix("/") ? nil : path.lastIndex(of: "/").map { path[...$0] }
      path = (directory.map { String($0) } ?? "") + name
    }
    return path
  }
}
