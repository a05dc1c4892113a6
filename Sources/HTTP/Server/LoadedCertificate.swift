internal import CMicroHTTPD

/// A certificate chain and its key, as GnuTLS wants them.
final class LoadedCertificate {
  private static let chainLimit = 16
  fileprivate let chain: UnsafeMutablePointer<gnutls_pcert_st>
  fileprivate let count: UInt32
  fileprivate let key: gnutls_privkey_t

  init(_ pem: Server.Certificate) throws(ServerError) {
    try LoadedCertificate.validate(pem)
    let chain = UnsafeMutablePointer<gnutls_pcert_st>.allocate(
      capacity: LoadedCertificate.chainLimit)
    var count = UInt32(LoadedCertificate.chainLimit)
    do throws(ServerError) {
      try pem.certificate.withDatum { data throws(ServerError) in
        try check(
          gnutls_pcert_list_import_x509_raw(chain, &count, &data, GNUTLS_X509_FMT_PEM, 0))
      }
    } catch {
      chain.deallocate()
      throw error
    }
    var key: gnutls_privkey_t?
    do throws(ServerError) {
      try check(gnutls_privkey_init(&key))
      try pem.key.withDatum { data throws(ServerError) in
        try check(gnutls_privkey_import_x509_raw(key, &data, GNUTLS_X509_FMT_PEM, nil, 0))
      }
      guard let key else { throw .certificate("no key") }
      self.chain = chain
      self.count = count
      self.key = key
    } catch {
      if let key { gnutls_privkey_deinit(key) }
      LoadedCertificate.free(chain, count)
      throw error
    }
  }

  deinit {
    gnutls_privkey_deinit(key)
    LoadedCertificate.free(chain, count)
  }

  /// Checks that both can be read and belong together.
  private static func validate(_ pem: Server.Certificate) throws(ServerError) {
    var credentials: gnutls_certificate_credentials_t?
    try check(gnutls_certificate_allocate_credentials(&credentials))
    defer { gnutls_certificate_free_credentials(credentials) }
    try pem.certificate.withDatum { certificate throws(ServerError) in
      try pem.key.withDatum { key throws(ServerError) in
        try check(
          gnutls_certificate_set_x509_key_mem(
            credentials, &certificate, &key, GNUTLS_X509_FMT_PEM))
      }
    }
  }

  private static func free(_ chain: UnsafeMutablePointer<gnutls_pcert_st>, _ count: UInt32) {
    for index in 0..<Int(count) { gnutls_pcert_deinit(chain + index) }
    chain.deallocate()
  }
}

// SAFETY: GnuTLS only reads what is shared between sessions, and nothing changes before `deinit`.
extension LoadedCertificate: @unchecked Sendable {}

extension String {
  /// Lends the text as GnuTLS takes it.
  fileprivate func withDatum(
    _ body: (inout gnutls_datum_t) throws(ServerError) -> Void
  ) throws(ServerError) {
    var bytes = Array(utf8)
    let result = bytes.withUnsafeMutableBufferPointer { buffer -> Result<Void, ServerError> in
      var datum = gnutls_datum_t(data: buffer.baseAddress, size: UInt32(buffer.count))
      do throws(ServerError) {
        return .success(try body(&datum))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }
}

/// Turns a GnuTLS result into an error.
private func check(_ result: Int32) throws(ServerError) {
  guard result < 0 else { return }
  throw .certificate(String(cString: gnutls_strerror(result)))
}

/// Called in a handshake, on the connection's I/O thread: which certificate is to be shown.
let chooseCertificate:
  @convention(c) (
    gnutls_session_t?, UnsafePointer<gnutls_datum_t>?, Int32,
    UnsafePointer<gnutls_pk_algorithm_t>?, Int32,
    UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>?, UnsafeMutablePointer<UInt32>?,
    UnsafeMutablePointer<gnutls_privkey_t?>?
  ) -> Int32 = { session, _, _, _, _, chain, count, key in
    // libmicrohttpd makes its connection the session's pointer.
    guard let handle = gnutls_session_get_ptr(session).map({ OpaquePointer($0) }),
      let context = nalu_http_connection_context(handle)
    else { return -1 }
    let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
    guard let certificate = connection.certificate else { return -1 }
    chain?.pointee = certificate.chain
    count?.pointee = certificate.count
    key?.pointee = certificate.key
    return 0
  }
