internal import Codec
internal import Container

/// What tracks of sound belong together in a transport stream that moves its program to other PIDs: each
/// takes the place of one before it, by their order in the map.
struct SoundParts: Equatable, Sendable {
  /// By the index of a track: that of the first one that it goes on with.
  private(set) var first: [Int: Int] = [:]
  /// Some sound is beside the video only later, and in no one's place.
  private(set) var isIncomplete = false

  /// - Parameters:
  ///   - moves: Where the video is, and the sound beside it; empty when it stays where it is.
  ///   - tracks: Those of the container.
  init(_ moves: [TransportReader.Move], _ tracks: [Track]) {
    guard let begin = moves.first else { return }
    var origins: [Int: Int] = [:]
    for move in moves.dropFirst() {
      for (place, pid) in move.sounds.enumerated()
      where !begin.sounds.contains(pid) && origins[pid] == nil {
        if place < begin.sounds.count { origins[pid] = begin.sounds[place] }
      }
    }
    for index in tracks.indices where tracks[index].isAudio {
      guard !begin.sounds.contains(tracks[index].id) else { continue }
      if let origin = origins[tracks[index].id],
        let first = tracks.firstIndex(where: { $0.id == origin }),
        tracks[first].kind == tracks[index].kind
      {
        self.first[index] = first
      } else {
        isIncomplete = true
      }
    }
  }

  /// The tracks of sound that can be copied, without those that go on with another one.
  func origins(of tracks: [Track]) -> [Int] {
    tracks.indices.filter {
      // LATM says in its packets only what other formats must know before.
      tracks[$0].isAudio && first[$0] == nil && tracks[$0].kind != .other("aac_latm")
    }
  }

  /// Those that go on with one of `indices`.
  func parts(of indices: [Int]) -> [Int] {
    first.filter { indices.contains($0.value) }.map(\.key).sorted()
  }

  /// What is said of sound beside video that moves.
  var note: String? {
    guard isIncomplete else { return nil }
    return "the program map moves the video to another PID; sound is taken from its first one"
  }
}
