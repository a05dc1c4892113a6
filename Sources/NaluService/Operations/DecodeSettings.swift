package import Codec

/// What `/decode` was asked for. `nil` means that a parameter was not given: its default depends on
/// others.
package struct DecodeSettings: Equatable, Sendable {
  package enum Format: String, CaseIterable, Sendable {
    case png, jpeg
    /// Headerless frames.
    case yuv
    case y4m
    /// ffmpeg's framemd5 lines.
    case framemd5

    package var isImage: Bool { self == .png || self == .jpeg }
  }

  package enum Rotation: String, CaseIterable, Sendable {
    /// Images are turned as the stream asks.
    case auto
    case none
  }

  package enum ErrorPolicy: String, CaseIterable, Sendable {
    /// Show what can be shown, and count.
    case conceal
    /// The first error ends the job.
    case fail
  }

  package enum ResolutionChange: String, CaseIterable, Sendable {
    /// Each frame has its own size.
    case split
    /// The job fails.
    case fail
  }

  package enum Archive: String, CaseIterable, Sendable {
    case zip, tar
  }

  package var format = Format.png
  package var frames: FrameSelection?
  package var pixelFormat: PixelFormat?
  /// Luma samples.
  package var width: Int?
  /// Luma samples.
  package var height: Int?
  package var appliesCropping = true
  package var rotation = Rotation.auto
  package var deinterlaces = false
  package var onError = ErrorPolicy.conceal
  package var onResolutionChange = ResolutionChange.split
  package var archive: Archive?
  package var lengthPrefix = LengthPrefixSettings()

  package init() {}

  /// Which frames, the default applied.
  package var selection: FrameSelection { frames ?? (format.isImage ? .first : .all) }

  /// How images are packed; `nil` for a single one.
  package var packing: Archive? { archive ?? (selection.isSingle ? nil : .zip) }

  /// Throws what contradicts itself.
  package func check(_ limits: Limits) throws(Problem) {
    if format.isImage {
      if pixelFormat != nil {
        throw .conflict("pix_fmt", "pix_fmt is for yuv, y4m and framemd5; images have their own.")
      }
    } else if archive != nil {
      throw .conflict("archive", "archive is for images, not for \(format.rawValue).")
    } else if deinterlaces {
      throw .conflict("deinterlace", "deinterlace is for images, not for \(format.rawValue).")
    }
    if format == .y4m, let pixelFormat, pixelFormat.layout != .planar {
      throw .conflict("pix_fmt", "Y4M takes planar formats, not \(pixelFormat.rawValue).")
    }
    for (name, size) in [("width", width), ("height", height)] {
      guard let size, size > limits.maxDimension else { continue }
      throw Problem(
        .dimensionsTooLarge, "\(name) \(size) exceeds max_dimension, \(limits.maxDimension).",
        parameter: name, members: [.init("limit", limits.maxDimension)])
    }
    if let width, let height, width * height > limits.maxFramePixels {
      throw Problem(
        .dimensionsTooLarge,
        "\(width)x\(height) exceeds max_frame_pixels, \(limits.maxFramePixels).",
        parameter: width >= height ? "width" : "height",
        members: [.init("limit", limits.maxFramePixels)])
    }
  }
}

/// Which frames are wanted, numbered from 0 in output order.
package enum FrameSelection: Equatable, Sendable {
  case all
  /// In ascending order, without overlaps.
  case numbers([ClosedRange<Int>])
  /// 0, n, 2n, …
  case every(Int)
  case keyframes
  case last
  /// The frame shown at that second.
  case time(Double)

  package static let first = FrameSelection.numbers([0...0])

  /// It gives one image at most.
  package var isSingle: Bool {
    switch self {
    case .last, .time: true
    case .numbers(let ranges): ranges.count == 1 && ranges[0].count == 1
    case .all, .every, .keyframes: false
    }
  }

  /// The greatest number of list items that is read.
  package static let itemLimit = 1000
  /// The greatest number of digits of a frame's number.
  package static let digitLimit = 9

  /// Reads `0`, `0,10,20-29`, `all`, `keyframes`, `every:25`, `last`, `t:1.5`.
  package init?(_ text: String) {
    switch text {
    case "all": self = .all
    case "keyframes": self = .keyframes
    case "last": self = .last
    default:
      if text.hasPrefix("every:") {
        guard let step = Self.number(text.dropFirst(6)), step > 0 else { return nil }
        self = .every(step)
      } else if text.hasPrefix("t:") {
        guard let seconds = Self.seconds(text.dropFirst(2)) else { return nil }
        self = .time(seconds)
      } else {
        self.init(list: text)
      }
    }
  }

  private init?(list: String) {
    let items = list.split(separator: ",", omittingEmptySubsequences: false)
    guard items.count <= Self.itemLimit else { return nil }
    var ranges: [ClosedRange<Int>] = []
    for item in items {
      let ends = item.split(separator: "-", omittingEmptySubsequences: false).map(Self.number)
      guard ends.count <= 2, let first = ends[0], let last = ends[ends.count - 1], first <= last
      else { return nil }
      ranges.append(first...last)
    }
    self = .numbers(Self.merged(ranges))
  }

  private static func merged(_ ranges: [ClosedRange<Int>]) -> [ClosedRange<Int>] {
    var merged: [ClosedRange<Int>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, range.lowerBound <= last.upperBound + 1 {
        merged[merged.count - 1] =
          last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    return merged
  }

  private static func number(_ text: Substring) -> Int? {
    guard (1...digitLimit).contains(text.utf8.count), let number = decimalInteger(text), number >= 0
    else {
      return nil
    }
    return number
  }

  /// Digits with at most one point.
  private static func seconds(_ text: Substring) -> Double? {
    let isDecimal = text.utf8.allSatisfy { (48...57).contains($0) || $0 == 46 }
    guard isDecimal, text.first != ".", text.last != ".", text.utf8.count <= 20,
      let seconds = Double(text), seconds < 1e9
    else { return nil }
    return seconds
  }
}
