/// The stream of which samples and NAL units are reported.
extension TransportReader {
  /// The PES packet is shorter than it says.
  var isPacketOpen: Bool { hasPES && (header.isOpen || (payloadLeft ?? 0) > 0) }

  mutating func readPES<Sink: ContainerSink>(
    _ content: Span<UInt8>, at offset: Int, startsUnit: Bool, _ sink: inout Sink
  ) {
    if startsUnit {
      if isPacketOpen {
        sink.note(
          ContainerFinding(
            .error, .damaged,
            "A PES packet ends before its header does, or \(payloadLeft ?? 0) bytes before the"
              + " PES_packet_length that it says.", at: headerPlace))
      }
      payloadLeft = nil
      header.begin()
      headerPlace = offset
      hasPES = true
    }
    guard hasPES else { return }
    var first = 0
    if header.isOpen {
      switch header.add(content) {
      case .incomplete: return
      case .invalid:
        hasPES = false
        sink.note(
          ContainerFinding(
            .error, .damaged, "A PES packet does not begin with its start code.", at: headerPlace))
        return
      case .complete(let found, let next):
        beginSample(found, &sink)
        first = next
      }
    }
    var end = content.count
    if let left = payloadLeft {
      end = min(end, first + left)
      payloadLeft = left - (end - first)
    }
    guard first < end else { return }
    sink.take(payload: content.extracting(first..<end))
    units.append(content.extracting(first..<end), at: offset + first)
  }

  private mutating func beginSample<Sink: ContainerSink>(
    _ found: PESHeader.Content, _ sink: inout Sink
  ) {
    var sample = Sample(index: sampleIndex, offset: headerPlace, streamOffset: units.streamOffset)
    sampleIndex += 1
    sample.isWhole = false
    if let pts = found.pts {
      let dts = unwrapper.unwrap(found.dts ?? pts)
      sample.dts = dts
      var delay = (pts - (found.dts ?? pts)) % (1 << 33)
      if delay < -(1 << 32) { delay += 1 << 33 }
      sample.pts = dts + delay
    }
    clock.add(sample.pts)
    payloadLeft = found.size
    sink.take(sample)
  }
}
