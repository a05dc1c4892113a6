internal import NaluService
internal import Platform

/// `nalu inspect|encode|decode|remux [--parameter value …] [FILE|-] [-o FILE]`: an operation in this
/// process, without the work queue: read a block, step, write.
struct MediaCommand {
  let endpoint: MediaEndpoint

  /// Runs the command; its exit status.
  func run(_ words: ArraySlice<String>) throws(CommandError) -> Int32 {
    let arguments = try Arguments(words, table: endpoint.parameters)
    if arguments.wantsHelp { return Nalu.printText(try Help.text(for: endpoint.name)) }
    let files = endpoint.secondPart == nil ? 1 : 2
    guard arguments.operands.count <= files else {
      throw .usage(
        "\(endpoint.name) takes \(files == 1 ? "one file" : "two files"), not "
          + "\(arguments.operands.count).")
    }
    let path = arguments.operands.first ?? "-"
    let input = try open(path)
    let values: ParameterValues
    do throws(Problem) {
      values = try ParameterValues(arguments.options, table: endpoint.parameters)
    } catch {
      throw .usage(error.detail)
    }
    if let name = arguments.output {
      let others = arguments.operands.dropFirst()
      if input.isFile(at: name) || others.contains(where: { isSameFile($0, name) }) {
        throw .usage("The result would take the place of its input, \(name); name another file.")
      }
    }
    var operation = try makeOperation(values, input)
    if arguments.operands.count == 2 { try pushSecond(arguments.operands[1], to: &operation) }
    let output: OutputFile
    do throws(SystemError) {
      output = try OutputFile(path: arguments.output)
    } catch {
      throw .file(arguments.output ?? "standard output", error)
    }
    if output.isTerminal, !endpoint.isText {
      throw .usage("The result is not text; name a file with -o, or write into a pipe.")
    }
    let interruption = try Interruption(
      // A recording ends, and is worth keeping; work on a file is given up.
      endsInput: endpoint.name == "encode" && input.remainingSize == nil,
      leftover: output.temporaryName)
    // A result on the terminal would run into the line.
    let progress = ProgressLine(
      endpoint.name, size: input.remainingSize,
      isShown: !output.isTerminal && !arguments.isQuiet)
    let reader = BlockReader(input, until: interruption.stop)
    do throws(CommandError) {
      defer { progress.clear() }
      let answer = try pump(
        reader, path, through: &operation, to: output, interruption.stop, progress)
      progress.clear()
      for line in remarks(on: answer) { writeErrorLine("nalu: \(line)") }
    } catch {
      output.discard()
      throw error
    }
    do throws(SystemError) {
      try output.commit()
    } catch {
      throw .file(arguments.output ?? "standard output", error)
    }
    withExtendedLifetime(interruption) {}
    return 0
  }

  /// What a response would say in its header and a person should know: notes, and counts of what
  /// went wrong.
  private func remarks(on answer: Answer) -> [String] {
    (answer.headers + answer.trailers).compactMap { field in
      switch field.name {
      case "Nalu-Note": field.value
      case "Nalu-Frames-Skipped" where field.value != "0": "frames skipped: \(field.value)"
      case "Nalu-Decode-Errors" where field.value != "0": "decode errors: \(field.value)"
      default: nil
      }
    }
  }

  private func makeOperation(
    _ values: ParameterValues, _ input: borrowing InputFile
  ) throws(CommandError) -> any Operation & ~Copyable {
    let limits = Limits.forCommandLine(processors: availableProcessors())
    let context = OperationContext(
      limits: limits,
      spoolDirectory: SpoolDirectory(
        path: environmentVariable("TMPDIR") ?? "/tmp", capacity: limits.maxSpool),
      contentLength: input.remainingSize, file: StoredFile(input))
    do throws(Problem) {
      return try endpoint.makeOperation(values, context)
    } catch {
      throw .problem(error)
    }
  }

  private func open(_ path: String) throws(CommandError) -> InputFile {
    do throws(SystemError) {
      return try InputFile(path: path)
    } catch {
      throw .file(path, error)
    }
  }

  /// Hands over the file that goes beside the media.
  private func pushSecond(
    _ path: String, to operation: inout any Operation & ~Copyable
  ) throws(CommandError) {
    let input = BlockReader(try open(path))
    var isEnded = false
    var isEmpty = true
    while !isEnded {
      let block = try next(operation.blockSize, nil, from: input, path)
      isEnded = !block.isFull
      guard block.count > 0 else { break }
      isEmpty = false
      do throws(Problem) { try operation.pushSecond(block) } catch { throw .problem(error) }
    }
    if isEmpty { throw .problem(.emptySecondPart(endpoint.secondPart?.name ?? "")) }
  }

  private func pump(
    _ input: BlockReader, _ path: String, through operation: inout any Operation & ~Copyable,
    to output: borrowing OutputFile, _ stop: InputStop?, _ progress: ProgressLine
  ) throws(CommandError) -> Answer {
    var result = Output()
    var bytesRead = 0
    var isEnded = false
    /// The last block is not full.
    var endsEarly = false
    var step = Step.needsInput
    var spare: Block?
    while step != .finished {
      var block: Block?
      if step == .needsInput, !isEnded {
        let filled = try next(operation.blockSize, spare.take(), from: input, path)
        isEnded = !filled.isFull
        endsEarly = isEnded && filled.count > 0
        bytesRead += filled.count
        block = filled.count > 0 ? filled : nil
      }
      let tellsEnd = step == .needsInput && block == nil
      do throws(Problem) {
        if let block { try operation.push(block) }
        if tellsEnd {
          // Ctrl-C reaches the source of a pipe too, and its end may be seen before the signal.
          if stop?.isStopped(within: endsEarly ? 200 : 0) == true {
            try operation.endOfStoppedInput()
          } else {
            try operation.endOfInput()
          }
        }
        step = try operation.step(into: &result)
      } catch {
        throw .problem(error)
      }
      if isKnownUniquelyReferenced(&block) { spare = block }
      progress.update(bytesRead: bytesRead, counters: result.counters)
      try write(&result.bytes, to: output)
    }
    return result.answer
  }

  private func next(
    _ size: Int, _ spare: Block?, from input: BlockReader, _ path: String
  ) throws(CommandError) -> Block {
    do throws(SystemError) {
      return try input.next(size, spare: spare)
    } catch {
      throw .file(path == "-" ? "standard input" : path, error)
    }
  }

  private func write(_ bytes: inout [UInt8], to output: borrowing OutputFile) throws(CommandError) {
    guard !bytes.isEmpty else { return }
    do throws(SystemError) {
      try output.write(bytes.span)
    } catch {
      // As other programs do when nobody reads on: without a word.
      if error.isBrokenPipe { die(of: .brokenPipe) }
      throw .file("the output", error)
    }
    bytes.removeAll(keepingCapacity: true)
  }
}
