internal import H264

/// The parameter sets of a stream as they are reported: one entry for each distinct content.
struct ParameterSetCatalog: Sendable {
  enum Kind: String, CaseIterable, Sendable {
    case sps, pps
    case subsetSPS = "subset_sps"
    case spsExtension = "sps_extension"
    case depthParameterSet = "depth_parameter_set"

    init?(_ type: NALUnitType) {
      switch type {
      case .sps: self = .sps
      case .pps: self = .pps
      case .subsetSPS: self = .subsetSPS
      case .spsExtension: self = .spsExtension
      case .depthParameterSet: self = .depthParameterSet
      default: return nil
      }
    }

    /// The report's list of them.
    var listName: String {
      switch self {
      case .sps, .pps, .subsetSPS: rawValue
      case .spsExtension, .depthParameterSet: "\(rawValue)s"
      }
    }
  }

  struct Entry: Sendable {
    let kind: Kind
    /// The index of the first NAL unit with this content, and where it is; nil when the container
    /// has it beside the stream.
    let unit: Int?
    let offset: Int
    /// The whole NAL unit.
    let content: [UInt8]
    /// Its own id; nil when it could not be read.
    var id: Int?
    var repeats = 0
    var evidence = InputRecognition.Evidence.none
    /// The members for its elements.
    var members: [UInt8] = []
  }

  /// What a set that arrives is.
  enum Arrival: Equatable, Sendable {
    /// The entry there has the same content.
    case copy(of: Int)
    case new
    /// The catalog is full.
    case unlisted
  }

  private static let maxEntries = 1024
  private static let maxBytes = 8 << 20

  private(set) var entries: [Entry] = []
  private var indexOfContent: [Digest: Int] = [:]
  private var bytes = 0
  /// The content that an id has now, by kind.
  private var current: [Kind: [Int: Digest]] = [:]
  /// Ids whose content now is the container's.
  private var outOfBand: [Kind: Set<Int>] = [:]
  /// The content that was last replaced was the container's.
  private(set) var lastReplacedWasOutOfBand = false

  /// Looks up a NAL unit, and counts it when it is a copy.
  mutating func arrival(of unit: [UInt8]) -> Arrival {
    if let index = indexOfContent[Self.key(unit)] {
      entries[index].repeats += 1
      return .copy(of: index)
    }
    let isFull = entries.count >= Self.maxEntries || bytes + unit.count > Self.maxBytes
    return isFull ? .unlisted : .new
  }

  /// Adds what ``arrival(of:)`` called new; returns its position.
  mutating func add(_ entry: Entry) -> Int {
    bytes += entry.content.count + entry.members.count
    indexOfContent[Self.key(entry.content)] = entries.count
    entries.append(entry)
    return entries.count - 1
  }

  /// Says of an entry what could not be read before.
  mutating func complete(
    at index: Int, _ members: [UInt8], _ evidence: InputRecognition.Evidence
  ) {
    entries[index].evidence = evidence
    bytes += members.count - entries[index].members.count
    entries[index].members = members
  }

  /// The content of this entry is what its id stands for now.
  func isInForce(_ index: Int) -> Bool {
    let entry = entries[index]
    guard let id = entry.id else { return false }
    return current[entry.kind]?[id] == Self.key(entry.content)
  }

  /// Notes that the set is in force now; true when another content of its id was before.
  mutating func replaces(
    _ kind: Kind, id: Int, _ content: [UInt8], isOutOfBand: Bool
  ) -> Bool {
    let key = Self.key(content)
    let old = current[kind, default: [:]].updateValue(key, forKey: id)
    let wasOutOfBand = outOfBand[kind, default: []].contains(id)
    if isOutOfBand {
      outOfBand[kind, default: []].insert(id)
    } else if wasOutOfBand {
      outOfBand[kind]?.remove(id)
    }
    lastReplacedWasOutOfBand = wasOutOfBand
    return old != nil && old != key
  }

  /// The first content of each id of a kind, in order of appearance.
  func firstOfEachID(_ kind: Kind) -> [Entry] {
    var seen: Set<Int> = []
    return entries.filter { entry in
      guard entry.kind == kind, let id = entry.id else { return false }
      return seen.insert(id).inserted
    }
  }

  /// Bytes of memory that the entries take.
  var heldBytes: Int { bytes + entries.count * MemoryLayout<Entry>.stride }

  /// Stands for a content. The hash is seeded anew for each process, so that nobody can make two
  /// contents that share it.
  private struct Digest: Hashable {
    let hash: Int
    let size: Int
  }

  /// nal_ref_idc makes no other set.
  private static func key(_ unit: [UInt8]) -> Digest {
    var hasher = Hasher()
    if let header = unit.first { hasher.combine(header & 31) }
    hasher.combine(unit.dropFirst())
    return Digest(hash: hasher.finalize(), size: unit.count)
  }
}
