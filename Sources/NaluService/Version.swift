/// What this program calls itself.
package enum Version {
  package static let nalu = "0.1.0"
}
