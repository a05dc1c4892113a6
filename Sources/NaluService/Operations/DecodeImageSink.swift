internal import Archive
internal import Codec
internal import Platform

/// Makes images of frames: one on its own, or many in an archive.
struct DecodeImageSink: ~Copyable {
  private let settings: DecodeSettings
  private let limits: Limits
  /// Of pictures that do not say how they are to be laid.
  private let orientation: Orientation
  private var writer: ImageWriter
  private var archive: ArchiveWriter?
  private var isFlushed = false

  init(
    _ settings: DecodeSettings, orientation: Orientation, _ limits: Limits, threads: Int
  ) throws(Problem) {
    self.settings = settings
    self.orientation = orientation
    self.limits = limits
    var opening = ImageWriter.Settings()
    opening.fileFormat = settings.format == .jpeg ? .jpeg : .png
    opening.threads = settings.packing == nil ? 1 : threads
    writer = ImageWriter(opening)
    guard let packing = settings.packing else { return }
    do throws(ArchiveError) {
      archive = try ArchiveWriter(packing == .zip ? .zip : .tar)
    } catch {
      throw .archiveFailed
    }
  }

  mutating func write(
    _ frame: consuming Frame, number: Int, isMonochrome: Bool, into output: inout Output
  ) throws(Problem) {
    let orientation = settings.rotation == .auto ? frame.orientation ?? self.orientation : .upright
    let geometry = DecodeGeometry(
      width: frame.width, height: frame.height, sampleAspectRatio: frame.sampleAspectRatio,
      settings, swapsAxes: orientation.swapsAxes, isSubsampled: false)
    try geometry.check(limits)
    var presentation = ImageWriter.Presentation(width: geometry.width, height: geometry.height)
    presentation.isMonochrome = isMonochrome
    presentation.orientation = orientation
    presentation.sampleAspectRatio = geometry.sampleAspectRatio
    do throws(CodecError) {
      let picture = settings.deinterlaces ? try frame.deinterlaced() : frame
      try writer.send(picture, number: number, as: presentation)
    } catch {
      throw .conversionFailed
    }
    _ = try emit(into: &output)
  }

  /// Takes one image after the other out of the writer; true when everything is out.
  mutating func finish(comment: String, into output: inout Output) throws(Problem) -> Bool {
    if !isFlushed {
      do throws(CodecError) { try writer.finish() } catch { throw .conversionFailed }
      isFlushed = true
    }
    if try emit(into: &output) { return false }
    do throws(ArchiveError) {
      try archive?.finish(comment: comment)
    } catch {
      throw .archiveFailed
    }
    archive?.take(into: &output.bytes)
    return true
  }

  /// Appends the next image, if one is ready.
  private mutating func emit(into output: inout Output) throws(Problem) -> Bool {
    guard let image = writer.receive() else { return false }
    guard archive != nil else {
      output.bytes += image.bytes
      return true
    }
    let name = name(image.number)
    do throws(ArchiveError) {
      try archive?.add(name, image.bytes)
    } catch {
      throw .archiveFailed
    }
    archive?.take(into: &output.bytes)
    return true
  }

  /// `frame-000000.png`.
  private func name(_ number: Int) -> String {
    let digits = "\(number)"
    let zeros = String(repeating: "0", count: max(0, 6 - digits.utf8.count))
    return "frame-\(zeros)\(digits).\(settings.format == .jpeg ? "jpg" : "png")"
  }
}

extension Problem {
  /// libarchive refused; it writes to memory, so nobody but us can be blamed.
  fileprivate static var archiveFailed: Problem {
    Problem(.internal, "The archive could not be written.")
  }
}
