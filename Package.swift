// swift-tools-version: 6.3
import PackageDescription

/// Settings that every target shares.
let house: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableExperimentalFeature("Lifetimes"),
]

/// Targets that must not touch raw memory.
let memorySafe: [SwiftSetting] = house + [.strictMemorySafety()]

let package = Package(
  name: "nalu",
  products: [.executable(name: "nalu", targets: ["nalu"])],
  targets: [
    // C libraries, each behind one door.
    .systemLibrary(
      name: "CFFmpeg",
      providers: [
        .apt(["libavcodec-dev", "libavformat-dev", "libavutil-dev", "libswscale-dev"])
      ]),
    .systemLibrary(
      name: "CMicroHTTPD", pkgConfig: "libmicrohttpd",
      providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(
      name: "CArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
    .target(name: "CDeflate", linkerSettings: [.linkedLibrary("isal")]),
    .systemLibrary(name: "CMalloc"),

    // FFmpeg's functions as jumps that load its libraries when one is first called. CFFmpeg has
    // headers only: a function that this target does not know cannot be linked.
    .target(name: "FFmpegLoader", linkerSettings: [.linkedLibrary("dl")]),

    // What the service is made of; none of these three knows another.
    .target(name: "H264", swiftSettings: memorySafe),
    // What H.264 comes in: MP4, FLV, MPEG-TS, Matroska, length-prefixed NAL units.
    .target(name: "Container", dependencies: ["H264"], swiftSettings: memorySafe),
    .target(
      name: "Codec", dependencies: ["CDeflate", "CFFmpeg", "FFmpegLoader", "Platform"],
      swiftSettings: house),
    .target(name: "HTTP", dependencies: ["CMicroHTTPD", "Platform"], swiftSettings: house),
    // Zip and tar.
    .target(name: "Archive", dependencies: ["CArchive"], swiftSettings: house),
    // Locks, blocks of memory and files: the raw-memory corner that lets the service do without.
    .target(name: "Platform", dependencies: ["CByteSearch", "CMalloc"], swiftSettings: house),
    // The one inner loop that vectors make several times as fast.
    .target(name: "CByteSearch"),

    .target(
      name: "NaluService",
      dependencies: ["H264", "Container", "Codec", "HTTP", "Archive", "Platform"],
      swiftSettings: memorySafe),
    .executableTarget(
      name: "nalu", dependencies: ["HTTP", "NaluService", "Platform"], swiftSettings: memorySafe),

    .testTarget(name: "H264Tests", dependencies: ["H264"], swiftSettings: house),
    .testTarget(
      name: "ContainerTests", dependencies: ["Container", "H264"], swiftSettings: house),
    .testTarget(
      name: "CodecTests", dependencies: ["Codec", "CFFmpeg", "Platform"], swiftSettings: house),
    .testTarget(
      name: "HTTPTests", dependencies: ["HTTP", "CMicroHTTPD", "TestSupport", "Platform"],
      swiftSettings: house),
    .testTarget(
      name: "NaluServiceTests",
      dependencies: [
        "NaluService", "H264", "Container", "Codec", "HTTP", "TestSupport", "Platform",
      ],
      swiftSettings: house),
    .target(
      name: "TestSupport", dependencies: ["Platform"], path: "Tests/TestSupport",
      swiftSettings: house),
  ],
  swiftLanguageModes: [.v6]
)

// libFuzzer brings their main function, so a plain build could not link them.
if Context.environment["NALU_FUZZ"] == "1" {
  let targets: [(name: String, dependencies: [Target.Dependency])] = [
    ("Scan", ["H264", "Platform"]), ("Syntax", ["H264"]), ("Report", ["NaluService", "Platform"]),
    ("Container", ["Container", "FuzzSupport", "NaluService"]),
    ("Decode", ["FuzzSupport", "NaluService", "Codec"]),
    ("Transcode", ["FuzzSupport", "NaluService", "Codec"]),
  ]
  package.targets.append(
    .target(
      name: "FuzzSupport", dependencies: ["NaluService", "Platform"], path: "Fuzz/Support",
      swiftSettings: house))
  for target in targets {
    package.targets.append(
      .executableTarget(
        name: "\(target.name)Fuzz", dependencies: target.dependencies,
        path: "Fuzz/\(target.name)",
        swiftSettings: house + [.unsafeFlags(["-parse-as-library"])]))
  }
}

// What `make bench` compares uploads and small requests with.
if Context.environment["NALU_BENCH"] == "1" {
  package.targets.append(
    .executableTarget(
      name: "BenchmarkSink", dependencies: ["HTTP", "Platform"], path: "Benchmarks/Sink",
      swiftSettings: memorySafe))
  package.targets.append(
    .executableTarget(
      name: "BenchmarkPlain", dependencies: ["CMicroHTTPD"], path: "Benchmarks/Plain"))
}
