internal import Container

extension ContainerReader {
  /// The list of what the container is made of; nil when there is none.
  var listName: String? {
    switch format {
    case .mp4: "boxes"
    case .flv: "tags"
    case .matroska: "elements"
    case .annexB, .avcc, .mpegTS: nil
    }
  }
}

extension ContainerEntry {
  /// Of a line.
  var kind: String {
    switch self {
    case .box: "box"
    case .tag: "tag"
    case .element: "element"
    }
  }

  /// How deep it lies in a tree.
  var depth: Int {
    switch self {
    case .box(let box): box.depth
    case .element(let element): element.depth
    case .tag: 0
    }
  }
}

/// What is particular to each container.
extension JSONWriter {
  /// The members of a list's entry; `inLine`: alone, so that its place in a tree must be said.
  mutating func members(_ entry: ContainerEntry, inLine: Bool) {
    switch entry {
    case .box(let box):
      member("type", box.type.text)
      member("offset", box.offset)
      member("size", box.size)
      member("header_size", box.headerSize)
      if inLine { member("depth", box.depth) }
    case .tag(let tag): members(tag)
    case .element(let element):
      member("id", "0x" + String(element.id, radix: 16))
      member("name", element.name)
      member("offset", element.offset)
      member("size", element.size)
      if inLine { member("depth", element.depth) }
    }
  }

  /// What a source has beside its format and size.
  mutating func members(
    _ reader: ContainerReader, _ given: AVCConfigurationRecord?, frames: Int
  ) {
    if reader.format == .avcc {
      member("length_size", reader.lengthSize)
    } else {
      key("tracks")
      beginArray()
      for track in reader.tracks {
        beginObject()
        // A PES packet may hold several frames, or a part of one.
        members(track, frames: reader.format == .mpegTS && track.isReported ? frames : nil)
        endObject()
      }
      endArray()
    }
    let track = reader.tracks.first(where: \.isReported)
    if let record = given ?? track?.configuration {
      key("avcC")
      beginObject()
      if let offset = track?.configurationOffset { member("offset", offset) }
      member("size", record.bytes.count)
      members(record)
      endObject()
    }
    if let mp4 = reader.mp4 { members(mp4.file) }
    if let flv = reader.flv { members(flv.file) }
    if let transport = reader.transport { members(transport) }
    if let matroska = reader.matroska { members(matroska.file) }
  }

  private mutating func members(_ file: MatroskaFile) {
    member("doc_type", file.docType)
    member("timestamp_scale", file.timestampScale)
    member("duration", file.duration)
    member("title", file.title)
    member("muxing_app", file.muxingApp)
    member("writing_app", file.writingApp)
    member("cluster_count", file.clusterCount)
    member("block_count", file.blockCount)
    member("cue_point_count", file.cueCount)
  }

  private mutating func members(_ file: MP4File) {
    member("major_brand", file.majorBrand)
    member("minor_version", file.minorVersion)
    key("compatible_brands")
    beginArray()
    for brand in file.compatibleBrands { value(brand) }
    endArray()
    member("fragmented", file.isFragmented)
    member("fragment_count", file.fragmentCount)
    member("movie_time_base", file.timeScale > 0 ? "1/\(file.timeScale)" : nil)
    member("movie_duration", file.duration)
  }
}

/// A list whose entries may have entries below them, written in pieces.
struct TreeWriting: Sendable {
  /// The depth of the entry that is open; -1 when there is none.
  private var depth = -1

  mutating func write(_ entry: ContainerEntry, _ writer: inout JSONWriter) {
    if depth < 0 {
      writer.beginArray()
    } else if entry.depth > depth {
      writer.key("children")
      writer.beginArray()
    } else {
      close(to: entry.depth, &writer)
    }
    depth = entry.depth
    writer.beginObject()
    writer.members(entry, inLine: false)
  }

  mutating func finish(_ writer: inout JSONWriter) {
    if depth < 0 {
      writer.beginArray()
    } else {
      close(to: 0, &writer)
    }
    writer.endArray()
  }

  /// Ends the open entry, and those that it lies in down to `depth`.
  private mutating func close(to depth: Int, _ writer: inout JSONWriter) {
    writer.endObject()
    while self.depth > depth {
      writer.endArray()
      writer.endObject()
      self.depth -= 1
    }
  }
}
