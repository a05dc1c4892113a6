internal import Glibc

/// A new file in the directory that has no name, but may get one later if it `isLinkable`; nil where
/// the file system cannot have such a file.
func openUnnamedFile(
  in directory: String, mode: mode_t, isLinkable: Bool
) throws(SystemError) -> Int32? {
  // `O_TMPFILE`, which Swift does not see.
  let unnamed = 0x40_0000 | O_DIRECTORY
  let opened = open(
    directory, unnamed | O_RDWR | O_CLOEXEC | (isLinkable ? 0 : O_EXCL), mode)
  if opened >= 0 { return opened }
  switch errno {
  case EOPNOTSUPP, EISDIR, EINVAL: return nil
  default: throw SystemError("open")
  }
}

/// A new file whose name begins with `prefix`.
func openNamedFile(_ prefix: String) throws(SystemError) -> (descriptor: Int32, name: String) {
  // Six letters that mkstemp puts others in place of.
  let place = String(repeating: "X", count: 6)
  var template = Array("\(prefix)\(place)".utf8CString)
  let opened = mkstemp(&template)
  guard opened >= 0 else { throw SystemError("mkstemp") }
  _ = fcntl(opened, F_SETFD, FD_CLOEXEC)
  let name = template.dropLast().map { UInt8(bitPattern: $0) }
  return (opened, String(decoding: name, as: UTF8.self))
}
