internal import Codec

extension EncodeSettings {
  /// The rules that need no size or pixel format.
  func checkWithoutVideo() throws(Problem) {
    try checkRateControl()
  }

  private func checkRateControl() throws(Problem) {
    let given: [(String, Bool)] = [
      ("bitrate", bitrate != nil), ("crf", crf != nil), ("qp", qp != nil),
    ]
    let names = given.filter(\.1).map(\.0)
    guard names.count <= 1 else {
      throw .conflict(
        names[1],
        "\(names.joined(separator: " and ")) are different kinds of rate control; "
          + "give one.")
    }
  }
}
