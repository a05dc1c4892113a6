/// The words after a command, told apart by form.
struct Arguments {
  /// `--name value` and `--name=value`, in order, without the dashes.
  var options: [(name: String, value: String)] = []
  /// What is no option: file names, and `-` for standard input.
  var operands: [String] = []
  /// The value of `-o`.
  var output: String?
  var wantsHelp = false
  /// `--quiet`: no progress.
  var isQuiet = false

  /// Throws what is wrong with the form; what the names and values mean is not looked at.
  init(_ words: some Sequence<String>) throws(CommandError) {
    var rest = Array(words)[...]
    var onlyOperands = false
    while let word = rest.popFirst() {
      if onlyOperands || word == "-" || !word.hasPrefix("-") {
        operands.append(word)
      } else if word == "--" {
        onlyOperands = true
      } else if word == "-h" || word == "--help" {
        wantsHelp = true
      } else if word == "-q" || word == "--quiet" {
        isQuiet = true
      } else if word == "-o" || word == "--output" {
        guard let path = rest.popFirst() else {
          throw CommandError.usage("\(word) needs a file name.")
        }
        output = path
      } else if word.hasPrefix("--") {
        let name = word.dropFirst(2)
        if let equals = name.firstIndex(of: "=") {
          options.append((String(name[..<equals]), String(name[name.index(after: equals)...])))
        } else {
          guard let value = rest.popFirst() else {
            throw CommandError.usage("\(word) needs a value.")
          }
          options.append((String(name), value))
        }
      } else {
        throw CommandError.usage("There is no option \(word); long options begin with two dashes.")
      }
    }
  }
}
