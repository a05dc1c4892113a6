internal import CFFmpeg

extension Frame {
  /// What the stream says of the colours; what it leaves out, or says in a way that has no name, is
  /// `nil`.
  package var colour: ColourDescription {
    let picture = av.pointer.pointee
    var colour = ColourDescription()
    switch picture.color_range {
    case AVCOL_RANGE_MPEG: colour.range = .tv
    case AVCOL_RANGE_JPEG: colour.range = .pc
    default: break
    }
    let primaries = Int32(bitPattern: picture.color_primaries.rawValue)
    colour.primaries = .allCases.first { $0.code == primaries }
    let transfer = Int32(bitPattern: picture.color_trc.rawValue)
    colour.transfer = .allCases.first { $0.code == transfer }
    let matrix = Int32(bitPattern: picture.colorspace.rawValue)
    colour.matrix = .allCases.first { $0.code == matrix }
    return colour
  }

  /// Where the chroma of 4:2:0 lies; `nil` when the stream does not say.
  package var statedChromaLocation: ChromaLocation? {
    switch av.pointer.pointee.chroma_location {
    case AVCHROMA_LOC_LEFT: .left
    case AVCHROMA_LOC_CENTER: .center
    case AVCHROMA_LOC_TOPLEFT: .topLeft
    default: nil
    }
  }
}
