package import Platform

extension Server {
  package struct Configuration: Sendable {
    /// A name or a numeric address; `::` takes IPv4 too.
    package var host = "127.0.0.1"
    /// 0 takes any free port.
    package var port: UInt16 = 0
    package var ioThreads = 2
    /// Makes it HTTPS.
    package var certificate: Certificate?
    /// Open connections; more wait in the backlog.
    package var connectionLimit = 4096
    /// Open connections of one address, more are closed at once; 0 is no limit.
    package var perAddressLimit = 0
    /// Memory per connection in bytes: upload chunks are about half of it, and a request head must
    /// fit (else 431). libmicrohttpd clears it after every request, which at 128 KiB takes as
    /// long as all else that a small request needs; uploads are no faster with more.
    package var connectionMemory = 32 << 10
    /// From the connection's start, or a later request's first byte, to the end of the head.
    package var headerTimeout = Duration.seconds(10)
    /// Between two requests.
    package var idleTimeout = Duration.seconds(60)
    /// Without an upload byte while the server waits for one.
    package var uploadStallTimeout = Duration.seconds(30)
    /// Bytes per second an upload must keep up with, time in which the server makes the client
    /// wait not counted; 0 asks for no rate.
    package var minimumUploadRate = 0
    /// Without progress of a client that has an answer to read.
    package var readerStallTimeout = Duration.seconds(60)
    /// Bytes per second a client must read, time in which there is nothing to send not counted; 0
    /// asks for no rate.
    package var minimumReaderRate = 0
    /// Bytes of an upload that are read and thrown away for the sake of an early answer.
    package var drainLimit = 64 << 20
    /// How long an early answer waits for the rest of a short upload to come, if that does not come
    /// fast.
    package var drainPatience = Duration.seconds(1)
    /// Takes what libmicrohttpd complains about, a few lines a second; from any thread.
    package var log: @Sendable (String) -> Void = { _ in }

    package init() {}

    var isEncrypted: Bool { certificate != nil }
    var headRoom: HeadRoom { HeadRoom(memory: connectionMemory) }
  }

  /// A certificate chain and its private key, as PEM text.
  package struct Certificate: Sendable {
    package var certificate: String
    package var key: String

    package init(certificate: String, key: String) {
      self.certificate = certificate
      self.key = key
    }
  }
}

/// Why a server could not start.
package enum ServerError: Error, Equatable, Sendable {
  case addressInUse
  /// The port needs privileges.
  case permission
  /// The host is not known, or not an address of this machine.
  case noSuchAddress
  /// The certificate or its key cannot be used; the library's words.
  case certificate(String)
  case library(String)
  case system(SystemError)
}
