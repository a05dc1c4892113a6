package import Glibc

/// The few socket calls that libmicrohttpd leaves to its user.
package enum Sockets {
  /// A socket that listens on `host` (a name or a numeric address) and `port` (0: any free one).
  ///
  /// `::` also takes IPv4. The caller owns the descriptor.
  package static func listen(
    host: String, port: UInt16, backlog: Int32 = 1024
  ) throws(SystemError) -> (descriptor: Int32, port: UInt16) {
    var hints = addrinfo()
    hints.ai_flags = AI_PASSIVE
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &found) == 0, let first = found else {
      throw SystemError("getaddrinfo", EADDRNOTAVAIL)
    }
    defer { freeaddrinfo(first) }
    var failure = SystemError("getaddrinfo", EADDRNOTAVAIL)
    var next: UnsafeMutablePointer<addrinfo>? = first
    while let candidate = next?.pointee {
      do throws(SystemError) {
        return try listen(at: candidate, backlog: backlog)
      } catch {
        failure = error
      }
      next = candidate.ai_next
    }
    throw failure
  }

  private static func listen(
    at candidate: addrinfo, backlog: Int32
  ) throws(SystemError) -> (descriptor: Int32, port: UInt16) {
    let type = candidate.ai_socktype | Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(candidate.ai_family, type, candidate.ai_protocol)
    guard descriptor >= 0 else { throw SystemError("socket") }
    do throws(SystemError) {
      set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
      if candidate.ai_family == AF_INET6 {
        set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0)
      }
      guard bind(descriptor, candidate.ai_addr, candidate.ai_addrlen) == 0 else {
        throw SystemError("bind")
      }
      guard Glibc.listen(descriptor, backlog) == 0 else { throw SystemError("listen") }
      return (descriptor, try localPort(of: descriptor))
    } catch {
      close(descriptor)
      throw error
    }
  }

  private static func localPort(of descriptor: Int32) throws(SystemError) -> UInt16 {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutableBytes(of: &storage) { bytes in
      getsockname(
        descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
    }
    guard result == 0 else { throw SystemError("getsockname") }
    // The port lies at the same place in both families.
    return withUnsafeBytes(of: storage) { bytes in
      UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
    }
  }

  /// The numeric text of an address, without its port; an IPv4 address that came in over an IPv6
  /// socket is written as IPv4.
  package static func text(of address: UnsafePointer<sockaddr>) -> String {
    let size =
      Int32(address.pointee.sa_family) == AF_INET6
      ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
    let text = String(unsafeUninitializedCapacity: Int(NI_MAXHOST)) { buffer in
      buffer.withMemoryRebound(to: CChar.self) { host in
        let failed = getnameinfo(
          address, socklen_t(size), host.baseAddress, socklen_t(host.count), nil, 0,
          NI_NUMERICHOST)
        return failed == 0 ? host.baseAddress.map { strlen($0) } ?? 0 : 0
      }
    }
    return text.hasPrefix("::ffff:") && text.contains(".") ? String(text.dropFirst(7)) : text
  }

  /// Whether the peer of each has closed, shut down its sending side, or failed. Never waits.
  package static func peersAreGone(_ descriptors: [Int32]) -> [Bool] {
    var polled = descriptors.map { pollfd(fd: $0, events: rdhup, revents: 0) }
    guard poll(&polled, nfds_t(polled.count), 0) > 0 else {
      return Array(repeating: false, count: descriptors.count)
    }
    let gone = rdhup | Int16(POLLHUP) | Int16(POLLERR) | Int16(POLLNVAL)
    return polled.map { $0.revents & gone != 0 }
  }

  /// `POLLRDHUP`, which Swift does not see: the peer sends no more.
  private static let rdhup: Int16 = 0x2000

  /// Bytes sent that the peer has acknowledged, since the connection began.
  package static func acknowledged(_ descriptor: Int32) -> UInt64 {
    counter(descriptor, at: 120)
  }

  /// Bytes that have come from the peer, since the connection began, read or not.
  package static func received(_ descriptor: Int32) -> UInt64 {
    counter(descriptor, at: 128)
  }

  /// A count in `tcp_info`, which grew: glibc's ends before `tcpi_bytes_acked` and
  /// `tcpi_bytes_received`.
  private static func counter(_ descriptor: Int32, at offset: Int) -> UInt64 {
    withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { info in
      var size = socklen_t(info.count)
      guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, info.baseAddress, &size) == 0,
        Int(size) >= offset + 8
      else { return 0 }
      return info.load(fromByteOffset: offset, as: UInt64.self)
    }
  }

  /// Lets whoever waits for bytes sleep until that many are there, or no more will come.
  package static func setWakeThreshold(_ descriptor: Int32, _ bytes: Int) {
    set(descriptor, SOL_SOCKET, SO_RCVLOWAT, Int32(clamping: bytes))
  }

  /// Ends both directions; whoever waits for the socket wakes up.
  package static func endBoth(_ descriptor: Int32) {
    shutdown(descriptor, Int32(SHUT_RDWR))
  }

  /// Ends reading only: a wait for more bytes ends as if the peer had closed.
  package static func endReading(_ descriptor: Int32) {
    shutdown(descriptor, Int32(SHUT_RD))
  }

  /// Ends writing only.
  package static func endWriting(_ descriptor: Int32) {
    shutdown(descriptor, Int32(SHUT_WR))
  }

  /// Resets the connection at once, whatever is done with the descriptor afterwards: the peer sees
  /// an error and not an orderly end.
  package static func reset(_ descriptor: Int32) {
    // A connect to "no address" dissolves the association, and the kernel sends RST. SO_LINGER
    // would not do: libmicrohttpd shuts down writing, which sends FIN, before it closes.
    var nowhere = sockaddr()
    nowhere.sa_family = sa_family_t(AF_UNSPEC)
    if connect(descriptor, &nowhere, socklen_t(MemoryLayout<sockaddr>.size)) != 0 {
      endBoth(descriptor)
    }
  }

  /// Lets the kernel find peers that vanished without a word: after about a minute.
  package static func detectVanishedPeers(_ descriptor: Int32) {
    set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
    set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, 30)
    set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, 10)
    set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPCNT, 3)
  }

  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  /// What a read that never waits found.
  package enum Read: Equatable, Sendable {
    case bytes(Int)
    case nothingYet
    case end
  }

  /// Reads up to `limit` bytes and throws them away. Never waits.
  package static func discard(_ descriptor: Int32, limit: Int) -> Read {
    var total = 0
    return withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { buffer in
      while total < limit {
        let count = recv(
          descriptor, buffer.baseAddress, min(buffer.count, limit - total),
          Int32(MSG_DONTWAIT))
        if count > 0 {
          total += count
        } else if count == 0 {
          return .end
        } else if errno == EINTR {
          continue
        } else if errno == EAGAIN {
          return total > 0 ? .bytes(total) : .nothingYet
        } else {
          return .end
        }
      }
      return .bytes(total)
    }
  }

  /// Sends as much of `bytes` as the kernel takes now, and returns how much that was.
  package static func send(_ descriptor: Int32, _ bytes: Span<UInt8>) -> Int {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { source in
        Glibc.send(
          descriptor, source.baseAddress.map { $0 + done }, source.count - done,
          Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      if count > 0 {
        done += count
      } else if errno != EINTR {
        break
      }
    }
    return done
  }

  /// A second descriptor of the same socket, or nil when there is none to have.
  package static func duplicate(_ descriptor: Int32) -> Int32? {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    return copy >= 0 ? copy : nil
  }

  /// Closes a descriptor.
  package static func close(_ descriptor: Int32) {
    Glibc.close(descriptor)
  }
}
