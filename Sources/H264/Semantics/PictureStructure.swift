/// What a coded picture is: a whole frame, or one field of it.
package enum PictureStructure: String, Sendable {
  case frame
  case topField = "top_field"
  case bottomField = "bottom_field"

  package init(isField: Bool, isBottom: Bool) {
    self = !isField ? .frame : isBottom ? .bottomField : .topField
  }
}
