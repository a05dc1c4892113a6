/// What the boxes of an MP4 file say of it as a whole.
package struct MP4File: Equatable, Sendable {
  package fileprivate(set) var majorBrand: String?
  package fileprivate(set) var minorVersion: Int?
  package fileprivate(set) var compatibleBrands: [String] = []
  /// Ticks a second of ``duration`` and of the edit lists.
  package fileprivate(set) var timeScale = 0
  package fileprivate(set) var duration: Int?
  package var isFragmented = false
  package var fragmentCount = 0
  package var hasMovie = false
  package var tracks: [ContainerTrack] = []

  private static let maxBrands = 64

  init() {}

  mutating func readBrands(_ content: [UInt8]) {
    guard majorBrand == nil else { return }
    var fields = ByteFields(content)
    let brand = FourCharacters(fields.number(4))
    let version = fields.number(4)
    guard !fields.isShort else { return }
    majorBrand = brand.text
    minorVersion = version
    while fields.left >= 4, compatibleBrands.count < Self.maxBrands {
      let brand = FourCharacters(fields.number(4))
      // QuickTime pads the list with zeros.
      if brand.value != 0 { compatibleBrands.append(brand.text) }
    }
  }

  /// `mvhd`.
  mutating func readHeader(_ content: [UInt8]) {
    var fields = ByteFields(content)
    let version = fields.number(1)
    fields.skip(version == 1 ? 19 : 11)
    let scale = fields.number(4)
    let length = fields.number(version == 1 ? 8 : 4)
    guard !fields.isShort else { return }
    timeScale = scale
    let isUnknown = length == (version == 1 ? Int.max : 0xFFFF_FFFF)
    duration = isUnknown || length == 0 ? nil : length
  }

  /// `mehd`.
  mutating func readFragmentDuration(_ content: [UInt8]) {
    var fields = ByteFields(content)
    let version = fields.number(1)
    fields.skip(3)
    let length = fields.number(version == 1 ? 8 : 4)
    if !fields.isShort, duration == nil, length > 0 { duration = length }
  }
}
