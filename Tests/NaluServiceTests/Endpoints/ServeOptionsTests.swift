import HTTP
import Platform
import Testing

@testable import NaluService

@Suite struct ServeOptionsTests {
  @Test func everyOptionIsInTheReadme() throws {
    let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let readme = try readTextFile("/\(root)/README.md", limit: 1 << 20)
    for option in ServeOptions.all {
      #expect(readme.contains("`--\(option.name)`"), "--\(option.name)")
    }
  }

  @Test(
    arguments: [
      ("max-body", "NALU_MAX_BODY"), ("port", "NALU_PORT"), ("max-nal-units", "NALU_MAX_NAL_UNITS"),
    ])
  func everyOptionHasAnEnvironmentVariable(name: String, variable: String) {
    #expect(ServeOptions.variable(of: name) == variable)
  }

  @Test func optionsReachTheConfiguration() throws {
    let values = try ParameterValues(
      [
        ("port", "0"), ("workers", "3"), ("max-body", "2Ki"), ("header-timeout", "7"),
        ("cors-origins", "https://a.example,https://b.example"), ("spool-dir", "/var/tmp"),
      ], table: ServeOptions.all)
    let configuration = try Configuration(values)
    #expect(configuration.http.port == 0)
    #expect(configuration.limits.workers == 3)
    #expect(configuration.limits.maxBody == 2048)
    #expect(configuration.http.headerTimeout == .seconds(7))
    #expect(configuration.origins == ["https://a.example", "https://b.example"])
    #expect(configuration.spoolDirectory == "/var/tmp")
  }

  /// A limit of nothing would make a server of nothing.
  @Test(arguments: ["max-body", "max-frame-pixels", "max-frames", "max-output", "max-nal-units"])
  func refusesLimitsBelowWhatCouldBeServed(name: String) {
    let problem = #expect(throws: Problem.self) {
      try ParameterValues([(name, "0")], table: ServeOptions.all)
    }
    #expect(problem?.code == .invalidParameter)
    #expect(problem?.detail.contains("at least") == true)
  }

  @Test(arguments: [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("localhost", "localhost")])
  func theAddressIsAURL(host: String, written: String) throws {
    var configuration = Configuration()
    configuration.http.host = host
    #expect(configuration.address(port: 80) == "http://\(written):80")
    configuration.certificateFile = "cert.pem"
    #expect(configuration.address(port: 443) == "https://\(written):443")
  }

  @Test(
    arguments: [(1024, 768), (1_000_000, 4096), (0, 1)])
  func connectionsLeaveDescriptorsForFiles(descriptors: Int, connections: Int) {
    var configuration = Configuration(processors: 2)
    configuration.fit(descriptors: descriptors)
    #expect(configuration.http.connectionLimit == connections)
  }

  @Test(arguments: ["Deploy/compose.yaml", "Deploy/kubernetes.yaml", "Dockerfile"])
  func deploymentFilesNameOptionsThatThereAre(file: String) throws {
    let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let text = try readTextFile("/\(root)/\(file)", limit: 1 << 20)
    let variables = Set(ServeOptions.all.map { ServeOptions.variable(of: $0.name) })
    let words = text.split { !($0.isUppercase || $0 == "_") }.filter { $0.hasPrefix("NALU_") }
    #expect(!words.isEmpty)
    for word in words { #expect(variables.contains(String(word)), "\(word) in \(file)") }
  }

  @Test func aCertificateNeedsItsKey() throws {
    let values = try ParameterValues([("tls-cert", "cert.pem")], table: ServeOptions.all)
    #expect(throws: Problem.self) { try Configuration(values) }
  }

  @Test(arguments: ["https://a.example/", "a.example", "*,https://a.example", "ftp://a", ""])
  func refusesWhatIsNoOrigin(text: String) {
    #expect(throws: Problem.self) {
      try ParameterValues([("cors-origins", text)], table: ServeOptions.all)
    }
  }
}
