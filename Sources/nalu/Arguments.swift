internal import NaluService

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

  /// Throws what is wrong with the form, and names that `table` does not have; what the values mean
  /// is not looked at.
  init(_ words: some Sequence<String>, table: [any AnyParameter]) throws(CommandError) {
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
        guard let path = rest.popFirst(), !path.isEmpty else {
          throw CommandError.usage("\(word) needs a file name.")
        }
        output = path
      } else if word.hasPrefix("--") {
        let name = String(word.dropFirst(2).prefix { $0 != "=" })
        guard table.contains(where: { $0.name == name }) else {
          throw .unknownOption(name, table)
        }
        if word.utf8.count > name.utf8.count + 2 {
          options.append((name, String(word.dropFirst(name.count + 3))))
        } else if let value = rest.popFirst() {
          options.append((name, value))
        } else {
          throw CommandError.usage("\(word) needs a value.")
        }
      } else {
        throw CommandError.usage("There is no option \(word); long options begin with two dashes.")
      }
    }
  }
}

extension CommandError {
  fileprivate static func unknownOption(_ name: String, _ table: [any AnyParameter]) -> CommandError
  {
    let meant = namesMeant(by: name, in: table)?.map { "--\($0)" }.joined(separator: " and ")
    return .usage(
      "There is no option --\(name)." + (meant.map { " Did you mean \($0)?" } ?? ""))
  }
}
