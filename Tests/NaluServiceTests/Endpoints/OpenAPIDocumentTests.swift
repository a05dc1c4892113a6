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
