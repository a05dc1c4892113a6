internal import CMicroHTTPD

extension Server {
  /// The version of libmicrohttpd that is loaded.
  package static var libraryVersion: String {
    MHD_get_version().map { String(cString: $0) } ?? "unknown"
  }
}
