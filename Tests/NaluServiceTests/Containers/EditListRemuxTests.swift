import Codec
import Testing

@testable import NaluService

@Suite struct EditListRemuxTests {
  struct Case: CustomTestStringConvertible {
    var edits: [EditedFile.Edit]
    var shown: [Int]
    var testDescription: String {
      edits.map { "\($0.first ?? -1)+\($0.count)" }.joined(separator: " ")
    }

    init(_ edits: [(Int, Int)]) {
      self.edits = edits.map { EditedFile.Edit(first: $0.0, count: $0.1) }
      shown = edits.flatMap { $0.0..<$0.0 + $0.1 }
    }
  }

  private static let cases = [
    // From the middle of a group of pictures to the middle of another one, so that a P picture behind
    // the last frame is needed.
    Case([(55, 26)]), Case([(55, 27)]), Case([(0, 25)]), Case([(3, 1)]),
    Case([(0, 25), (55, 25)]), Case([(7, 16), (34, 3), (66, 34)]),
  ]

  private func frames(_ file: [UInt8]) throws -> [Substring] {
    let decoded = try decode(file, decodeSettings(["format": "framemd5"]))
    return String(decoding: decoded.bytes, as: UTF8.self).split(separator: "\n")
  }

  @Test(arguments: cases)
  func anMP4FileShowsWhatTheInputShows(edited: Case) throws {
    let whole = try digests(EditedFile.make([EditedFile.Edit(first: 0, count: 100)]))
    let file = try EditedFile.make(edited.edits)
    let result = try remux("format=mp4", file)
    #expect(try digests(result.bytes) == edited.shown.map { whole[$0] })
    #expect(result.header("Nalu-Note") == nil)
  }

  @Test(arguments: cases, [0, 2])
  func anMP4FileShowsItWhenTheInputDoes(edited: Case, bframes: Int) throws {
    let file = try EditedFile.make(edited.edits, bframes: bframes)
    let result = try remux("format=mp4", file)
    #expect(try frames(result.bytes) == frames(file))
    let root = BoxTree(result.bytes)
    let table = SampleTable(try #require(root["moov/trak"]))
    let duration = edited.shown.count * table.timescale / 25
    #expect(table.edits.reduce(0) { $0 + $1.duration } == duration)
    #expect(root["moov/mvhd"]?.number(16) == duration)
    #expect(root["moov/trak/tkhd"]?.number(20) == duration)
    #expect(result.header("Nalu-Frames-Out") == "\(table.sizes.count)")
  }

  /// A frame behind a cut is shown where the cut is, reordered or not.
  @Test(arguments: cases, [0, 2])
  func framesBehindACutAreInTime(edited: Case, bframes: Int) throws {
    let file = try EditedFile.make(edited.edits, bframes: bframes)
    for number in edited.shown.indices {
      let time = Double(number) / 25 + 0.001
      let settings = try decodeSettings(["format": "framemd5", "frames": "t:\(time)"])
      let line = String(decoding: try decode(file, settings).bytes, as: UTF8.self)
        .split(separator: "\n").last
      #expect(try line == frames(file).filter { !$0.hasPrefix("#") }[number])
    }
  }

  /// Numbered sound of 48000 Hz, of which the same parts are heard that are seen.
  @Test(arguments: [Case([(0, 25), (55, 25)]), Case([(10, 10), (30, 10), (75, 20)])])
  func soundIsCutWithThePictures(edited: Case) throws {
    let media = try encode(
      "width=64&height=48&fps=25&gop=10&preset=fast&bframes=2",
      movingPictures(64, 48, count: 100))
    let sound = adts((0..<188).map { [0x21, 0x10, 0x04, 0x60, 0x8C, UInt8($0)] })
    let whole = try remux("format=mp4", media.bytes, sound: sound).bytes
    let file = try EditedFile.make(whole, edited.edits, isOfSound: true)
    let result = try remux("format=mp4", file)
    let packets = try packets(of: result.bytes, .mov).filter { $0.track == 1 }
    // They follow each other from the first on, which may get the decoder going.
    #expect((packets.first.map { $0.time } ?? 0) >= -3 * 22)
    for (packet, next) in zip(packets, packets.dropFirst()) {
      #expect((0...3 * 22).contains(next.time - packet.time))
    }
    var start = 0.0
    for edit in edited.edits {
      let from = Double(edit.first ?? 0) / 25
      let length = Double(edit.count) / 25
      for packet in packets {
        let time = Double(packet.time) / 1000
        guard time >= start + 0.022, time + 0.022 < start + length else { continue }
        // A frame of sound lasts 21.3 ms.
        let number = Double(packet.bytes[5])
        #expect(abs(number * 1024 / 48000 - from - (time - start)) < 0.022, "\(time)")
      }
      start += length
    }
    #expect(packets.count <= Int(start * 48000 / 1024) + 2 * edited.edits.count)
  }

  @Test(arguments: [(0, 0), (0, 25), (40, 3)])
  func anEditListCanBeWrittenAnew(pause: Int, first: Int) throws {
    let edits = [
      EditedFile.Edit(first: nil, count: pause), EditedFile.Edit(first: first, count: 10),
      EditedFile.Edit(first: 60, count: 20),
    ].filter { $0.count > 0 }
    let file = try EditedFile.make(edits, bframes: 0)
    let once = try remux("format=mp4", file).bytes
    let twice = try remux("format=mp4", once).bytes
    #expect(try frames(once) == frames(file))
    #expect(try frames(twice) == frames(file))
  }

  /// Frames 50 to 54 precede the first that is shown behind the cut; frame 25 is of no use.
  @Test(arguments: [
    (OutputFormat.flv, Demuxer.Format.flv), (.mkv, .matroska), (.mpegts, .mpegts), (.fmp4, .mov),
  ])
  func whatCannotHideFramesShowsTheNeededOnesAndSaysSo(
    format: OutputFormat, demuxer: Demuxer.Format
  ) throws {
    let file = try EditedFile.make(Case([(0, 25), (55, 25)]).edits, bframes: 0)
    let result = try remux("format=\(format.rawValue)", file)
    let note = try #require(result.header("Nalu-Note"))
    let hidden = try #require(Int(note.prefix { $0.isNumber }))
    #expect(note.contains("edit list") && note.contains(format.rawValue))
    #expect(hidden == 5)
    let shown = try digests(result.bytes)
    #expect(shown.count == 50 + hidden)
    let wanted = try digests(file)
    #expect(wanted.allSatisfy(shown.contains))
    // All others keep their times, and so does the end.
    let times = try packets(of: result.bytes, demuxer).map(\.time).sorted()
    let begin = times[0]
    for number in 0..<50 { #expect(times.contains { abs($0 - begin - 40 * number) <= 1 }) }
    #expect(abs(times[times.count - 1] - begin - 40 * 49) <= 1)
  }

  @Test func framesThatNothingRefersToAreLeftOutEverywhere() throws {
    let file = try EditedFile.make(Case([(0, 20)]).edits)
    for format in OutputFormat.allCases {
      let result = try remux("format=\(format.rawValue)", file)
      #expect(result.header("Nalu-Frames-Out") == "20")
      #expect(result.header("Nalu-Note") == nil)
      #expect(try digests(result.bytes) == digests(file))
    }
  }

  @Test func aFileThatShowsNothingIsRefused() throws {
    let file = try EditedFile.make(Case([(5000, 10)]).edits)
    let problem = #expect(throws: Problem.self) { try remux("format=mp4", file) }
    #expect(problem?.code == .undecodable)
  }

  @Test(arguments: cases)
  func aTranscodeEncodesTheFramesThatAreShown(edited: Case) throws {
    let file = try EditedFile.make(edited.edits)
    let result = try transcode("qp=0&preset=ultrafast&format=mp4", file)
    #expect(try digests(result.bytes) == digests(file))
    #expect(result.trailer("Nalu-Frames-In") == "\(edited.shown.count)")
  }
}

@Suite struct NeededFramesTests {
  /// `I` IDR, `P` reference, `b` not a reference; a `.` behind it: hidden.
  private func index(_ frames: String) -> DecodeIndex {
    var index = DecodeIndex()
    for character in frames {
      let number = index.entries.count
      switch character {
      case ".": index.entries[number - 1].flags.insert(.hidden)
      case "I":
        index.entries.append(.init(offset: 100 * number, order: number, size: 100, flags: .idr))
      case "b":
        index.entries.append(
          .init(offset: 100 * number, order: number, size: 100, flags: .disposable))
      default:
        index.entries.append(.init(offset: 100 * number, order: number, size: 100, flags: []))
      }
    }
    index.hideFrames(Array(index.entries.indices))
    return index
  }

  private func kept(_ index: DecodeIndex) -> [Int] {
    index.withoutUnneeded().entries.map { $0.offset / 100 }
  }

  @Test(arguments: [
    ("IPPb", [0, 1, 2, 3]),
    // Behind the last.
    ("IPb.P.", [0, 1]),
    ("IPP.b", [0, 1, 2, 3]),
    // Before the first.
    ("I.P.b.P", [0, 1, 3]),
    // Nothing refers across an IDR picture.
    ("IPP.P.IP", [0, 1, 4, 5]), ("IPP.I.P.P", [0, 1, 3, 4, 5]),
    // Two IDR pictures would become neighbours.
    ("IP.P.I.PI", [0, 1, 2, 3, 4, 5]), ("IP.I", [0, 1, 2]), ("IPP.I", [0, 1, 3]),
  ])
  func framesStayThatAreShownOrReferredTo(frames: String, expected: [Int]) {
    #expect(kept(index(frames)) == expected)
  }

  @Test func framesWithParameterSetsStayBeforeOthers() {
    var index = index("IPP.P.IP.P.")
    index.parameterSets = [.init(name: 8 << 8, offset: 210, size: 5)]
    #expect(kept(index) == [0, 1, 2, 4])
    index.parameterSets = [.init(name: 8 << 8, offset: 610, size: 5)]
    #expect(kept(index) == [0, 1, 4])
  }

  @Test func numbersCountWhatIsShown() {
    let index = index("I.PP.P.PP.")
    #expect([1, 4].map { index.number(of: $0) } == [0, 1])
    #expect(index.number(of: 0) < 0)
    #expect(index.frameCount == 2)
  }

  @Test func hiddenFramesHaveRoomBetweenOthersInCoarseUnits() {
    let index = index("IP.P.P.P")
    let timing = FrameTiming(timeBase: Rational(1, 25), starts: [0, 1], lastDuration: 1)
    let timeline = SampleTimeline(index, timing, hasEdits: false)
    let starts = (0..<5).map { timeline.timing(of: $0, isKeyframe: false).presentation }
    #expect(Set(starts).count == 5)
    let unit = timeline.timeBase.doubleValue
    #expect(Double(starts[0]) * unit == 0)
    #expect(abs(Double(starts[4]) * unit - 0.04) < 1e-9)
  }

  @Test func absurdTimesDoNotOverflow() {
    let index = index("IP.P.IP.PP")
    let timing = FrameTiming(
      timeBase: Rational(1, 1), starts: [-1 << 52, 1 << 52, (1 << 52) + 1, (1 << 52) + 2],
      lastDuration: 1 << 33)
    for hasEdits in [false, true] {
      let timeline = SampleTimeline(index, timing, hasEdits: hasEdits)
      let starts = (0..<7).map { timeline.timing(of: $0, isKeyframe: false).presentation }
      #expect(starts == starts.sorted())
    }
  }
}
