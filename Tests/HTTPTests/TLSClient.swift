import CMicroHTTPD
import Glibc
import HTTP
import TestSupport

/// A self-signed certificate and its key, made on the spot.
func makeCertificate(for name: String) -> Server.Certificate {
  var key: gnutls_x509_privkey_t?
  gnutls_x509_privkey_init(&key)
  defer { gnutls_x509_privkey_deinit(key) }
  let curve = 1 << 31 | UInt32(GNUTLS_ECC_CURVE_SECP256R1.rawValue)
  gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, curve, 0)

  var certificate: gnutls_x509_crt_t?
  gnutls_x509_crt_init(&certificate)
  defer { gnutls_x509_crt_deinit(certificate) }
  gnutls_x509_crt_set_version(certificate, 3)
  gnutls_x509_crt_set_serial(certificate, [1], 1)
  gnutls_x509_crt_set_activation_time(certificate, time(nil) - 60)
  gnutls_x509_crt_set_expiration_time(certificate, time(nil) + 3600)
  gnutls_x509_crt_set_dn(certificate, "CN=\(name)", nil)
  gnutls_x509_crt_set_key(certificate, key)
  gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0)

  var certificateText = gnutls_datum_t()
  gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &certificateText)
  var keyText = gnutls_datum_t()
  gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &keyText)
  defer {
    free(certificateText.data)
    free(keyText.data)
  }
  return Server.Certificate(certificate: text(certificateText), key: text(keyText))
}

private func text(_ datum: gnutls_datum_t) -> String {
  String(
    decoding: UnsafeBufferPointer(start: datum.data, count: Int(datum.size)), as: UTF8.self)
}

/// A blocking TLS client, which believes every certificate.
final class TLSClient {
  private let client: Client
  private var session: gnutls_session_t?
  private var credentials: gnutls_certificate_credentials_t?
  let handshake: Int32

  init(port: UInt16) {
    client = Client(port: port)
    gnutls_init(&session, UInt32(GNUTLS_CLIENT.rawValue | GNUTLS_NO_SIGNAL.rawValue))
    gnutls_certificate_allocate_credentials(&credentials)
    gnutls_credentials_set(
      session, GNUTLS_CRD_CERTIFICATE, credentials.map { UnsafeMutableRawPointer($0) })
    gnutls_set_default_priority(session)
    gnutls_transport_set_int2(session, client.descriptor, client.descriptor)
    handshake = gnutls_handshake(session)
  }

  deinit {
    gnutls_deinit(session)
    gnutls_certificate_free_credentials(credentials)
  }

  /// The common name that the server's certificate carries.
  var serverName: String {
    var count: UInt32 = 0
    guard let first = gnutls_certificate_get_peers(session, &count), count > 0 else { return "" }
    var certificate: gnutls_x509_crt_t?
    gnutls_x509_crt_init(&certificate)
    defer { gnutls_x509_crt_deinit(certificate) }
    gnutls_x509_crt_import(certificate, first, GNUTLS_X509_FMT_DER)
    var name = gnutls_datum_t()
    gnutls_x509_crt_get_dn3(certificate, &name, 0)
    defer { free(name.data) }
    return text(name)
  }

  /// Sends all; false when the connection broke.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes {
        gnutls_record_send(session, $0.baseAddress, $0.count)
      }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  /// Reads until so many bytes are there, or the end.
  func read(atLeast count: Int = .max) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while bytes.count < count {
      let got = gnutls_record_recv(session, &chunk, chunk.count)
      guard got > 0 else { break }
      bytes += chunk[..<got]
    }
    return bytes
  }

  /// Sends a request and reads what comes until the server ends the connection.
  func conversation(_ bytes: [UInt8]) -> String {
    send(bytes)
    return String(decoding: read(), as: UTF8.self)
  }

  func hangUp() { client.hangUp() }
}
