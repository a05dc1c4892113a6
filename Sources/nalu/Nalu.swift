@main
struct Nalu {
  static func main() {}
}
