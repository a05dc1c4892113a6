internal import Container

/// What MPEG transport streams have.
extension JSONWriter {
  mutating func members(_ reader: TransportReader) {
    member("packet_size", reader.packing?.packetSize)
    member("packet_count", reader.packetCount)
    member("pid_guessed", reader.isGuessed)
    key("programs")
    beginArray()
    for program in reader.programs {
      beginObject()
      members(program)
      endObject()
    }
    endArray()
    key("pids")
    beginArray()
    for pid in reader.statistics {
      beginObject()
      members(pid)
      endObject()
    }
    endArray()
  }

  private mutating func members(_ program: Program) {
    member("program_number", program.number)
    member("program_map_PID", program.mapPID)
    member("version_number", program.version)
    member("PCR_PID", program.clockPID)
    key("streams")
    beginArray()
    for stream in program.streams {
      beginObject()
      member("elementary_PID", stream.pid)
      member("stream_type", stream.type)
      member("codec", stream.codec)
      member("language", stream.language)
      endObject()
    }
    endArray()
  }

  private mutating func members(_ pid: PacketIdentifier) {
    member("pid", pid.pid)
    member("packet_count", pid.packets)
    member("pes_packet_count", pid.units)
    member("continuity_errors", pid.continuityErrors)
    member("transport_errors", pid.transportErrors)
    member("scrambled_packets", pid.scrambledPackets)
    guard pid.clock.count > 0 else { return }
    key("pcr")
    beginObject()
    member("count", pid.clock.count)
    member("first", pid.clock.first)
    member("last", pid.clock.last)
    member("longest_interval", pid.clock.longestInterval)
    member("discontinuities", pid.clock.discontinuities)
    endObject()
  }
}
