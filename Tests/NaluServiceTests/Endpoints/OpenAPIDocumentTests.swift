import Platform
import Testing

@testable import NaluService

@Suite struct OpenAPIDocumentTests {
  /// `make openapi` writes the file.
  @Test func theFileInTheRepositoryIsWhatTheTablesSay() throws {
    let path = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let file = try InputFile(path: "/\(path)/openapi.yaml")
    let size = file.remainingSize
    let block = Block(capacity: try #require(size))
    try file.fill(block)
    let text = String(decoding: block.span.withUnsafeBufferPointer { Array($0) }, as: UTF8.self)
    #expect(text == OpenAPIDocument().yaml)
  }

  /// Where the schema does not say all that the parser asks for, the description has its words.
  @Test func everyBoundOfAParameterIsStated() {
    let yaml = OpenAPIDocument().yaml
    for parameter in MediaEndpoint.all.flatMap(\.parameters) where !parameter.schema.isComplete {
      #expect(yaml.contains(" Must be \(parameter.expectation).\"\n"))
    }
    for bound in [
      "at most 1000,", "from 1000 to 2000000000,", "from 1 to 65535", "at most 5000", "up to 4096",
      "{0,999}", "{0,4999}", "maxLength: 8192",
    ] {
      #expect(yaml.contains(bound), "\(bound)")
    }
  }

  @Test func examplesOfParametersAreAccepted() {
    for parameter in MediaEndpoint.all.flatMap(\.parameters) {
      guard case .pattern(_, let example, _) = parameter.schema else { continue }
      #expect(parameter.value(of: example) != nil, "\(parameter.name)")
    }
  }

  @Test func everyRouteAndParameterIsDescribed() {
    let yaml = OpenAPIDocument().yaml
    for endpoint in MediaEndpoint.all {
      #expect(yaml.contains("\n  /\(endpoint.name):\n    post:\n"))
      for parameter in endpoint.parameters {
        #expect(yaml.contains("        - name: \(parameter.name)\n"))
      }
    }
    for endpoint in ServiceEndpoint.all {
      #expect(yaml.contains("\n  \(endpoint.path):\n    get:\n"))
    }
  }
}
