import Testing

@testable import NaluService

/// An edit list may show parts of the media again, and in another order.
@Suite struct EditedOrderTests {
  struct Case: CustomTestStringConvertible {
    var edits: [(first: Int, count: Int)]
    var testDescription: String { edits.map { "\($0.first)+\($0.count)" }.joined(separator: " ") }
    var shown: [Int] { edits.flatMap { $0.first..<$0.first + $0.count } }

    init(_ edits: (Int, Int)...) { self.edits = edits.map { (first: $0.0, count: $0.1) } }

    func file(_ media: [UInt8]) throws -> [UInt8] {
      try EditedFile.make(media, edits.map { EditedFile.Edit(first: $0.first, count: $0.count) })
    }
  }

  /// How the media is coded, and its times are written.
  enum Form: CaseIterable { case closed, open, negative, openNegative }

  private static let media = Dictionary(
    uniqueKeysWithValues: Form.allCases.map { form in
      (
        form,
        Result { () throws -> [UInt8] in
          let isOpen = form == .open || form == .openNegative
          let file = try encode(
            "width=64&height=48&fps=25&gop=10&preset=fast&bframes=2&format=mp4&open_gop="
              + (isOpen ? "1" : "0"), movingPictures(64, 48, count: 60)
          ).bytes
          let isNegative = form == .negative || form == .openNegative
          return isNegative ? try EditedFile.withNegativeOffsets(file) : file
        }
      )
    })

  private func media(_ form: Form) throws -> [UInt8] { try #require(Self.media[form]).get() }

  private static let cases = [
    Case((0, 10), (30, 20)), Case((3, 10), (33, 11)), Case((30, 10), (0, 10)),
    Case((35, 7), (3, 9)), Case((12, 8), (12, 8)), Case((12, 8), (15, 8), (2, 40)),
    Case((0, 1), (0, 1), (0, 1)), Case((7, 1), (7, 1), (50, 3)),
  ]

  private func shown(_ file: [UInt8], _ frames: String = "all") throws -> [Substring] {
    let settings = try decodeSettings(
      ["format": "framemd5", "on_error": "fail", "frames": .init(frames)])
    return String(decoding: try decode(file, settings).bytes, as: UTF8.self)
      .split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.suffix(32) }
  }

  @Test(arguments: cases, Form.allCases)
  func framesAreShownInTheOrderOfTheList(edited: Case, form: Form) throws {
    let whole = try shown(media(form))
    let file = try edited.file(media(form))
    let expected = edited.shown.map { whole[$0] }
    #expect(try shown(file) == expected)
    #expect(try shown(remux("format=mp4", file).bytes) == expected)
  }

  @Test(arguments: cases, Form.allCases)
  func theyAreShownInTime(edited: Case, form: Form) throws {
    let file = try edited.file(media(form))
    let result = try transcode("qp=0&preset=ultrafast&format=mp4", file)
    let table = SampleTable(try #require(BoxTree(result.bytes)["moov/trak"]))
    #expect(table.durations == Array(repeating: table.timescale / 25, count: edited.shown.count))
    let whole = try shown(media(form))
    for number in Set([0, edited.edits[0].count, edited.shown.count - 1]) {
      let time = Double(number) / 25 + 0.001
      #expect(try shown(file, "t:\(time)") == [whole[edited.shown[number]]])
    }
  }

  /// A list must not make much of a small file, nor take long over it: 30 parts of 50 samples, which
  /// are all looked at for each.
  @Test(
    arguments: [
      (maxNALUnits: 1000, count: 50, code: Problem.Code.tooManyNALUnits, word: "1000"),
      (40, 1, .unsupportedFeature, "samples are looked at"),
    ])
  func partsThatAreShownTooOftenAreRefused(
    maxNALUnits: Int, count: Int, code: Problem.Code, word: String
  ) throws {
    var limits = Limits()
    limits.maxNALUnits = maxNALUnits
    let edits = Array(repeating: EditedFile.Edit(first: 0, count: count), count: 30)
    let file = try EditedFile.make(media(.closed), edits)
    let problem = #expect(throws: Problem.self) { try decode(file, limits: limits) }
    #expect(problem?.code == code)
    #expect(problem?.detail.contains(word) == true)
  }

  /// Few of them are no trouble.
  @Test func partsThatAreShownAgainMayBeMany() throws {
    var limits = Limits()
    limits.maxNALUnits = 1000
    let edits = Array(repeating: EditedFile.Edit(first: 0, count: 50), count: 3)
    _ = try decode(EditedFile.make(media(.closed), edits), limits: limits)
  }
}
