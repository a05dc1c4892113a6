package import H264

/// Reads MPEG transport streams (ISO/IEC 13818-1 §2.4.3).
///
/// The packets before the first program map wait until it is known which of them are H.264, up to a
/// cap; without a map, the first PID that has video in PES packets is taken.
package struct TransportReader: Sendable {
  package private(set) var packing: TransportPacketing?
  private var counted: [PacketIdentifier] = []
  /// Where each PID is counted; -1 for one that has not come.
  private var slots = [Int](repeating: -1, count: 1 << 13)
  package private(set) var reportedPID: Int?
  /// The PID was guessed: no map says what it is.
  package private(set) var isGuessed = false
  /// Where the video is, if that changes; the first few times.
  package private(set) var moves: [Move] = []
  /// PIDs of sound in the program of the reported stream.
  private var soundPIDs: [Int] = []
  package private(set) var packetCount = 0
  private(set) var tables: ProgramTables
  private var position = 0
  /// The beginning of a packet.
  private var part: [UInt8] = []
  private var isInSync = false

  /// Packets that wait, and whether they do.
  private var waiting: [UInt8] = []
  private var waitingStart = 0
  private var isWaiting = true

  var units: ByteStreamUnits
  var header = PESHeader()
  var headerPlace = 0
  var payloadLeft: Int?
  var hasPES = false
  var sampleIndex = 0
  var unwrapper = TimeUnwrapper()
  var clock = SampleClock()

  private static let packetBytes = 188
  private static let maxWaiting = 1 << 20
  private static let maxWaitingPayload = 64 << 10
  private static let maxMoves = 64

  /// From a byte of the upload on the reported stream has that PID.
  package struct Move: Equatable, Sendable {
    package let offset: Int
    package let pid: Int
    /// PIDs of sound in the same program.
    package let sounds: [Int]
  }

  /// `search`: finds start codes.
  package init(
    _ limits: ContainerLimits = ContainerLimits(),
    search: StartCodeScanner.Search? = StartCodeScanner.plainSearch
  ) {
    tables = ProgramTables(maxStreams: limits.maxTracks)
    units = ByteStreamUnits(search: search)
  }

  package var programs: [Program] { tables.programs }

  /// What is counted of each PID, in their order.
  package var statistics: [PacketIdentifier] { counted.sorted { $0.pid < $1.pid } }

  /// Goes on with the next bytes of the stream.
  package mutating func read<Sink: ContainerSink>(
    _ chunk: Span<UInt8>, into sink: inout Sink
  ) throws(Sink.Failure) {
    if packing == nil { packing = TransportPacketing(head: chunk) }
    if isWaiting {
      waiting.append(copying: chunk)
      position += chunk.count
      preview()
      if reportedPID == nil, waiting.count < Self.maxWaiting { return }
      try stopWaiting(&sink)
    } else {
      try process(chunk, &sink)
    }
  }

  /// The stream is over.
  package mutating func finish<Sink: ContainerSink>(into sink: inout Sink) throws(Sink.Failure) {
    if isWaiting { try stopWaiting(&sink) }
    if part.count >= Self.packetBytes, part[0] == TransportPacketing.syncByte {
      // What comes between packets does not come after the last.
      let packet = part
      try readPacket(
        packet.span.extracting(0..<Self.packetBytes), at: position - packet.count, &sink)
    } else if !part.isEmpty, isInSync {
      var finding = ContainerFinding(
        .error, .truncated, "The stream ends inside a packet.", at: position)
      finding.isElsewhere =
        part.count >= 3 && isOtherStream(Int(part[1] & 0x1F) << 8 | Int(part[2]))
      sink.note(finding)
    }
    if isPacketOpen {
      sink.note(
        ContainerFinding(
          .error, .truncated, "The stream ends inside a PES packet.", at: headerPlace))
    }
    try units.finish(into: &sink)
  }

  /// The PID is one of a program, and not the reported one.
  private func isOtherStream(_ pid: Int) -> Bool {
    pid != reportedPID
      && tables.programs.contains { $0.streams.contains { stream in stream.pid == pid } }
  }

  // MARK: Waiting

  /// Looks for a map in what waits.
  private mutating func preview() {
    guard let packing else { return }
    var tables = tables
    forEachWaitingPacket(packing) { packet, _ in
      let pid = Int(packet[1] & 0x1F) << 8 | Int(packet[2])
      guard Self.firstH264(tables) == nil, tables.isTable(pid),
        let first = Self.payloadStart(packet)
      else { return }
      _ = tables.add(
        packet.extracting(first..<Self.packetBytes), pid: pid,
        startsUnit: packet[1] & 0x40 != 0)
    }
    reportedPID = Self.firstH264(tables)
  }

  private static func firstH264(_ tables: ProgramTables) -> Int? {
    for program in tables.programs {
      if let stream = program.streams.first(where: { $0.type == 0x1B }) { return stream.pid }
    }
    return nil
  }

  private func forEachWaitingPacket(
    _ packing: TransportPacketing, _ body: (Span<UInt8>, Int) -> Void
  ) {
    var place = packing.firstSync
    let bytes = waiting.span
    while place + Self.packetBytes <= bytes.count {
      guard bytes[place] == TransportPacketing.syncByte else {
        place += 1
        continue
      }
      body(bytes.extracting(place..<place + Self.packetBytes), place)
      place += packing.packetSize
    }
  }

  private mutating func stopWaiting<Sink: ContainerSink>(
    _ sink: inout Sink
  ) throws(Sink.Failure) {
    isWaiting = false
    if reportedPID == nil { guess() }
    var bytes: [UInt8] = []
    swap(&bytes, &waiting)
    position = 0
    try process(bytes.span, &sink)
  }

  /// Takes the first PID whose PES packets are of video and begin with a start code.
  private mutating func guess() {
    guard let packing else { return }
    var found: Int?
    forEachWaitingPacket(packing) { packet, _ in
      guard found == nil, packet[1] & 0x40 != 0, let first = Self.payloadStart(packet) else {
        return
      }
      let payload = packet.extracting(first..<Self.packetBytes)
      var header = PESHeader()
      header.begin()
      guard payload.count > 9, payload[3] & 0xF0 == 0xE0,
        case .complete(_, let next) = header.add(payload), next + 4 < payload.count,
        payload[next] == 0, payload[next + 1] == 0
      else { return }
      found = Int(packet[1] & 0x1F) << 8 | Int(packet[2])
    }
    let isMapped = tables.programs.contains { !$0.streams.isEmpty }
    if let found, !isMapped {
      reportedPID = found
      isGuessed = true
    }
  }

  // MARK: Packets

  private mutating func process<Sink: ContainerSink>(
    _ chunk: Span<UInt8>, _ sink: inout Sink
  ) throws(Sink.Failure) {
    guard let packing else {
      position += chunk.count
      return
    }
    var index = 0
    if position == 0 { index = min(packing.firstSync, chunk.count) }
    let trailing = packing.packetSize - Self.packetBytes
    if !part.isEmpty {
      let missing = min(packing.packetSize - part.count, chunk.count)
      part.append(copying: chunk.extracting(0..<missing))
      guard part.count == packing.packetSize else {
        position += chunk.count
        return
      }
      var whole: [UInt8] = []
      swap(&whole, &part)
      let start = position + missing - whole.count
      if whole[0] == TransportPacketing.syncByte {
        try readPacket(whole.span.extracting(0..<Self.packetBytes), at: start, &sink)
      } else {
        loseSync(at: start, &sink)
      }
      index = missing
    }
    while index + Self.packetBytes + trailing <= chunk.count {
      if chunk[index] == TransportPacketing.syncByte {
        try readPacket(
          chunk.extracting(index..<index + Self.packetBytes), at: position + index, &sink)
        index += packing.packetSize
      } else {
        loseSync(at: position + index, &sink)
        index += 1
        // Sync is where two sync bytes follow each other at the distance of packets.
        while index + packing.packetSize < chunk.count,
          chunk[index] != TransportPacketing.syncByte
            || chunk[index + packing.packetSize] != TransportPacketing.syncByte
        {
          index += 1
        }
      }
    }
    if index < chunk.count {
      part = []
      part.append(copying: chunk.extracting(index..<chunk.count))
    }
    position += chunk.count
  }

  private mutating func loseSync<Sink: ContainerSink>(at offset: Int, _ sink: inout Sink) {
    if isInSync {
      sink.note(
        ContainerFinding(
          .error, .damaged, "There is no packet where one should be; the next is searched for.",
          at: offset))
    }
    isInSync = false
  }

  /// Where the payload of a packet begins; nil when it has none.
  private static func payloadStart(_ packet: Span<UInt8>) -> Int? {
    guard packet[3] & 0x10 != 0 else { return nil }
    guard packet[3] & 0x20 != 0 else { return 4 }
    let first = 5 + Int(packet[4])
    return first < packetBytes ? first : nil
  }

  private mutating func readPacket<Sink: ContainerSink>(
    _ packet: Span<UInt8>, at offset: Int, _ sink: inout Sink
  ) throws(Sink.Failure) {
    isInSync = true
    packetCount += 1
    let pid = Int(packet[1] & 0x1F) << 8 | Int(packet[2])
    if slots[pid] < 0 {
      slots[pid] = counted.count
      counted.append(PacketIdentifier(pid: pid))
    }
    var counts = counted[slots[pid]]
    counts.packets += 1
    defer { counted[slots[pid]] = counts }
    let hasAdaptation = packet[3] & 0x20 != 0 && packet[4] > 0
    let flags = hasAdaptation ? packet[5] : 0
    if packet[1] & 0x80 != 0 {
      counts.transportErrors += 1
      var finding = ContainerFinding(
        .error, .damaged, "transport_error_indicator is set in a packet of PID \(pid).",
        at: offset)
      finding.isElsewhere = pid != reportedPID
      sink.note(finding)
      return
    }
    let (isError, isRepeat) = counts.check(
      counter: Int(packet[3] & 15), hasPayload: packet[3] & 0x10 != 0,
      isAnnounced: flags & 0x80 != 0)
    if isError {
      var finding = ContainerFinding(
        .error, .continuity, "continuity_counter of PID \(pid) jumps: packets are missing.",
        at: offset)
      finding.isElsewhere = pid != reportedPID
      sink.note(finding)
    }
    if flags & 0x10 != 0, packet[4] >= 7 {
      readClock(packet, at: offset, isAnnounced: flags & 0x80 != 0, &counts, &sink)
    }
    guard !isRepeat, let first = Self.payloadStart(packet) else { return }
    let startsUnit = packet[1] & 0x40 != 0
    if packet[3] & 0xC0 != 0 {
      counts.scrambledPackets += 1
      if pid == reportedPID, counts.scrambledPackets == 1 {
        sink.note(
          ContainerFinding(
            .warning, .encrypted, "Packets of the reported PID are scrambled.", at: offset))
      }
      return
    }
    let content = packet.extracting(first..<Self.packetBytes)
    if tables.isTable(pid) {
      for defect in tables.add(content, pid: pid, startsUnit: startsUnit) {
        sink.note(ContainerFinding(.warning, .damaged, defect, at: offset))
      }
      try follow(at: offset, &sink)
    } else if pid == reportedPID {
      if startsUnit { counts.units += 1 }
      // Where the upload is cut must make no difference to the order of what is told.
      if startsUnit || units.waitingBytes > Self.maxWaitingPayload { try units.scan(into: &sink) }
      readPES(content, at: offset + first, startsUnit: startsUnit, &sink)
    } else if startsUnit, content.count >= 4, content[0] == 0, content[1] == 0, content[2] == 1 {
      counts.units += 1
    }
  }

  /// Goes on with another PID where a new map does not have the one so far any more.
  private mutating func follow<Sink: ContainerSink>(
    at offset: Int, _ sink: inout Sink
  ) throws(Sink.Failure) {
    guard let last = reportedPID, !isGuessed else {
      if reportedPID == nil { reportedPID = Self.firstH264(tables) }
      return
    }
    if let sounds = sounds(beside: last) {
      soundPIDs = sounds
      return
    }
    guard let next = Self.firstH264(tables) else { return }
    try units.scan(into: &sink)
    hasPES = false
    payloadLeft = nil
    reportedPID = next
    if moves.isEmpty { moves.append(Move(offset: 0, pid: last, sounds: soundPIDs)) }
    soundPIDs = sounds(beside: next) ?? []
    if moves.count < Self.maxMoves {
      moves.append(Move(offset: offset, pid: next, sounds: soundPIDs))
    }
    sink.note(
      ContainerFinding(
        .warning, .configurationChanged,
        "The program map has H.264 in PID \(next), and in PID \(last) no more.", at: offset))
  }

  /// PIDs of sound in the program that has H.264 in that one; nil when none has.
  private func sounds(beside pid: Int) -> [Int]? {
    let program = tables.programs.first { program in
      program.streams.contains { $0.pid == pid && $0.type == 0x1B }
    }
    return program?.streams.filter { $0.kind == .audio }.map(\.pid)
  }

  private func readClock<Sink: ContainerSink>(
    _ packet: Span<UInt8>, at offset: Int, isAnnounced: Bool, _ counts: inout PacketIdentifier,
    _ sink: inout Sink
  ) {
    var base = 0
    for index in 6..<10 { base = base << 8 | Int(packet[index]) }
    base = base << 1 | Int(packet[10] >> 7)
    let time = 300 * base + (Int(packet[10] & 1) << 8 | Int(packet[11]))
    if !counts.clock.add(time, isAnnounced: isAnnounced) {
      sink.note(
        ContainerFinding(
          .warning, .clock, "The program clock of PID \(counts.pid) jumps.", at: offset))
    }
  }
}
