internal import HTTP
internal import Platform

/// The tokens of which a request must carry one: a file with a token a line, read again on SIGHUP.
package final class BearerTokens: Sendable {
  private let path: String
  private let tokens: Lock<[[UInt8]]>

  /// Reads the file; blank lines and lines that begin with `#` are no tokens.
  package init(path: String) throws(BearerTokensError) {
    self.path = path
    tokens = Lock(try BearerTokens.read(path))
  }

  /// Reads the file again; if that fails, the tokens stay as they were.
  package func reload() throws(BearerTokensError) {
    let fresh = try BearerTokens.read(path)
    tokens.withLock { $0 = fresh }
  }

  /// Whether the value of an `Authorization` field carries one of the tokens. How long that takes
  /// depends on the value and the number of tokens, not on how much of a token is right.
  package func allows(_ authorization: String?) -> Bool {
    guard let authorization else { return false }
    let parts = authorization.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return false }
    let candidate = Array(parts[1].utf8)
    return tokens.withLock { tokens in
      var isAllowed = false
      for token in tokens where isEqual(candidate, token) { isAllowed = true }
      return isAllowed
    }
  }

  private func isEqual(_ candidate: [UInt8], _ token: [UInt8]) -> Bool {
    var difference = candidate.count ^ token.count
    for index in candidate.indices {
      difference |= Int(candidate[index] ^ token[index % token.count])
    }
    return difference == 0
  }

  private static func read(_ path: String) throws(BearerTokensError) -> [[UInt8]] {
    let text: String
    do throws(SystemError) {
      text = try readTextFile(path, limit: 1 << 20)
    } catch {
      throw BearerTokensError(reason: error.message)
    }
    let lines = text.split(whereSeparator: \.isNewline).map { line in
      line.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()
    }
    let tokens = lines.map { Array(String($0).utf8) }.filter { !$0.isEmpty && $0[0] != 0x23 }
    guard !tokens.isEmpty else { throw BearerTokensError(reason: "it has no token") }
    return tokens
  }
}

/// Why a token file cannot be used.
package struct BearerTokensError: Error, Equatable, Sendable {
  package let reason: String
}
