/// Every bound that keeps a client from using more than its share. Whoever runs the server sets
/// the variables (`ServeOptions`); the constants are properties of the program.
package struct Limits: Equatable, Sendable {
  /// Bytes of one upload.
  package var maxBody = 16 * gibi
  /// Luma samples of one coded picture.
  package var maxFramePixels = 8192 * 4352
  /// Luma samples in one direction.
  package var maxDimension = 16384
  /// Frames of one job, in or out.
  package var maxFrames = 1_000_000
  /// Bytes of one result.
  package var maxOutput = 64 * gibi
  /// NAL units that one job keeps records of.
  package var maxNALUnits = 1_000_000
  /// Seconds that a job may take, waiting for its client not counted.
  package var jobTimeout = 3600
  /// Temporary files of all jobs together, in bytes.
  package var maxSpool = 8 * gibi
  /// What waits in memory of all jobs together, in bytes: uploads, records, results. Frames that
  /// are being coded come on top.
  package var maxMemory = 1 * gibi
  /// What one encoder keeps of pictures, in bytes, as far as that can be told beforehand.
  package var maxCodecMemory = 4 * gibi
  /// Steps that run at once.
  package var workers = 2
  /// Jobs that hold a codec at once.
  package var jobs = 4
  /// Jobs that are ready and wait for a codec slot.
  package var queue = 64
  /// Encoder or decoder threads of one job at most.
  package var maxThreads = 2

  /// Seconds that a client may keep a codec idle, in all, while another job waits for one; less when
  /// more wait, or more codecs are idle.
  package static let codecPatience = 30

  package static func codecPatience(whileWaiting jobs: Int, idle codecs: Int) -> Int {
    max(2, codecPatience / (max(1, jobs) * max(1, codecs)))
  }

  /// Nanoseconds for which an upload that trickles counts for the queue, and keeps its codec to itself.
  package static let codecGrace: UInt64 = 5_000_000_000
  /// Nanoseconds from which on a step is slow: it must not be waited for.
  package static let slowStep: UInt64 = 250_000_000
  /// Upload blocks that wait in memory for a worker, per job.
  package static let inputBlocks = 2
  /// Bytes of result in memory, per job, from which on the job waits for its reader.
  package static let outputMark = 4 * mebi
  /// Bytes of sample tables and fragment runs of one MP4 file in memory: 16 million samples.
  package static let sampleTables = 64 * mebi
  /// Bytes of an upload or early result that are kept in memory before a file is used.
  package static let spoolMemory = 4 * mebi

  /// Bytes that a container may have beside its samples where libavformat reads it, which keeps them
  /// more than once: 64 MiB of the default.
  package var maxMetadata: Int { min(Self.gibi, max(16 * Self.mebi, maxMemory / 16)) }

  /// Bytes of one sample of a container, which is in memory as a whole: three for each luma sample of
  /// the largest picture, and an eighth of what may wait in memory of all jobs together. A coded picture
  /// takes hardly more than its samples do (H.264 §A.3.1), which are 1.5 bytes in most streams.
  package var maxSampleBytes: Int {
    max(Self.mebi, min(3 * min(maxFramePixels, 1 << 40), maxMemory / 8))
  }

  package init() {}

  /// Bytes of one upload with the boundaries and heads of a form around it.
  var maxForm: Int { maxBody + min(32 << 10, .max - maxBody) }

  /// Threads of a codec that is opened while so many jobs hold one, unless a client asks for more.
  package func threads(sharedBy jobs: Int) -> Int { max(1, maxThreads / max(1, jobs)) }

  /// The limits of `nalu inspect` and its like, where the client pays for what it asks: only what
  /// the formats themselves allow.
  package static func forCommandLine(processors: Int) -> Limits {
    var limits = Limits()
    limits.maxBody = .max
    limits.maxFramePixels = 16384 * 16384
    limits.maxFrames = .max
    limits.maxOutput = .max
    limits.maxNALUnits = 100_000_000
    limits.jobTimeout = .max
    limits.maxSpool = .max
    limits.maxMemory = .max
    limits.maxCodecMemory = .max
    limits.maxThreads = processors
    return limits
  }

  private static let mebi = 1 << 20
  private static let gibi = 1 << 30
}
