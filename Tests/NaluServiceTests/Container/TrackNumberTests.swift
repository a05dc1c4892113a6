import Codec
import Testing

@testable import NaluService

/// What a report says of tracks that are known only by their samples.
@Suite struct TrackNumberTests {
  /// Two seconds of 25 pictures, and sound of 48 kHz.
  private static func film(_ format: OutputFormat) throws -> [UInt8] {
    let sound = adts((0..<94).map { [0x21, UInt8($0), 1, 2, 3] })
    return try remux(
      "format=\(format.rawValue)", ContainerFile.make(.h264, frames: 50), sound: sound
    ).bytes
  }

  @Test(arguments: ContainerFile.containers)
  func picturesHaveTheirRateAndSoundItsFormat(format: OutputFormat) throws {
    let tracks = try report(Self.film(format))["source"]?["tracks"]?.items ?? []
    #expect(tracks.count == 2)
    let video = try #require(tracks.first { $0["kind"]?.text == "video" })
    #expect(video["average_frame_rate"]?.text == "25/1")
    #expect(video["duration_seconds"] == .number(2))
    #expect(video["sample_count"]?.int == 50)
    let sound = try #require(tracks.first { $0["kind"]?.text == "audio" })
    #expect(sound["codec"]?.text == "aac")
    guard format != .mpegts else {
      // Its PES packets hold any number of frames, and are not read.
      #expect(sound["sample_count"] == .null)
      #expect(sound["duration"] == .null)
      return
    }
    #expect(sound["sample_count"]?.int == 94)
    #expect(sound["sample_rate"]?.int == 48_000)
    #expect(sound["channels"]?.int == 2)
  }

  /// Rounded times allow many rates, of which the usual one is meant.
  @Test(arguments: ["24", "30000/1001", "24000/1001", "50"])
  func aRateIsNotThatOfRoundedTimes(rate: String) throws {
    for format in [OutputFormat.flv, .mkv, .mpegts] {
      var settings = ContainerFile.settings(.h264)
      let parts = rate.split(separator: "/").compactMap { Int($0) }
      settings.frameRate = Rational(parts[0], parts.count > 1 ? parts[1] : 1)
      let stream = try encoded(frames: 60, settings)
      let file = try remux("format=\(format.rawValue)", stream).bytes
      let track = try report(file)["source"]?["tracks"]?.items.first
      #expect(track?["average_frame_rate"]?.text == (parts.count > 1 ? rate : "\(rate)/1"))
    }
  }

  /// The header may say more than the samples last.
  @Test func theRateOfAnMP4FileIsThatOfItsSamples() throws {
    var file = MP4Builder().file
    let header = try ContainerFile.content(of: "mdhd", in: file)
    ContainerFile.put(7 * MP4Builder.ticks, at: header + 16, in: &file)
    let track = try report(file)["source"]?["tracks"]?.items.first
    #expect(track?["duration"]?.int == 7 * MP4Builder.ticks)
    #expect(track?["average_frame_rate"]?.text == "25/1")
  }

  /// Nothing of two hours before the first fragment.
  @Test func aLiveStreamLastsFromItsFirstFragmentOn() throws {
    let builder = MP4Builder()
    let late = builder.fragmented.count
    var file = builder.fragmented
    let name = Array("tfdt".utf8)
    for place in 0..<late - 4 where file[place..<place + 4].elementsEqual(name) {
      file[place + 13] = 9
    }
    let track = try report(file)["source"]?["tracks"]?.items.first
    #expect(track?["sample_count"]?.int == 5)
    #expect(track?["duration"]?.int == 5 * MP4Builder.ticks)
  }
}
