import Codec
import Platform
import Testing

/// An upload of a picture and nothing but sound behind it; it tells when it is read.
private final class SoundBehindVideo: DemuxerSource {
  private let bytes: [UInt8]
  private let reads = Lock(0)
  let whenRead: @Sendable (Int) -> Void

  init(_ bytes: [UInt8], whenRead: @escaping @Sendable (Int) -> Void) {
    self.bytes = bytes
    self.whenRead = whenRead
  }

  var count: Int { bytes.count }
  var readCount: Int { reads.withLock { $0 } }

  func read(at offset: Int, into output: inout OutputSpan<UInt8>) -> Bool {
    let count = reads.withLock { count in
      count += 1
      return count
    }
    whenRead(count)
    let end = min(bytes.count, offset + output.freeCapacity)
    for index in offset..<max(offset, end) { output.append(bytes[index]) }
    return true
  }
}

@Suite struct InterruptionTests {
  private static func tag(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    return [type] + number(body.count, 3) + number(0, 7) + body + number(body.count + 11, 4)
  }

  private static let file: [UInt8] = {
    let header: [UInt8] = Array("FLV".utf8) + [1, 5, 0, 0, 0, 9, 0, 0, 0, 0]
    let record: [UInt8] = [1, 66, 0, 10, 255, 225, 0, 4, 0x67, 66, 0, 10, 1, 0, 2, 0x68, 0xCE]
    let video =
      tag(9, [0x17, 0, 0, 0, 0] + record) + tag(9, [0x17, 1, 0, 0, 0, 0, 0, 0, 1, 0x65])
    let sound = tag(8, [0x2F] + [UInt8](repeating: 0, count: 400))
    return header + video + Array(repeatElement(sound, count: 20_000).joined())
  }()

  /// Reads the video; gives the number of times that the source was read.
  private func read(
    _ interruption: Interruption, until deadline: UInt64 = .max, cancelAt limit: Int = .max
  ) throws -> Int {
    let source = SoundBehindVideo(Self.file) { if $0 >= limit { interruption.cancel() } }
    interruption.attach(until: deadline)
    defer { interruption.detach() }
    var demuxer = try Demuxer(source, format: .flv)
    guard let packet = try? demuxer.next() else { return source.readCount }
    demuxer.select([packet.track])
    _ = try? demuxer.next()
    return source.readCount
  }

  @Test func nothingIsReadForAJobThatIsOver() throws {
    let whole = try read(Interruption())
    #expect(whole > 100)
    #expect(try read(Interruption(), cancelAt: 10) <= 11)
  }

  @Test func nothingIsReadWhenTheTimeIsUp() {
    let count = (try? read(Interruption(), until: monotonicNanoseconds())) ?? 0
    #expect(count == 0)
  }

  @Test func noMoreIsReadThanWasAllowed() throws {
    let source = SoundBehindVideo(Self.file) { _ in }
    var demuxer = try Demuxer(source, format: .flv)
    guard let packet = try demuxer.next() else { return }
    demuxer.select([packet.track])
    let before = source.readCount
    demuxer.limitReading(to: 256 << 10)
    _ = try? demuxer.next()
    #expect(source.readCount - before <= 5)
  }
}
