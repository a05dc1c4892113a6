import H264
import Testing

@Suite struct GroupCollectorTests {
  @Test func aGroupIsCompleteOnceTheNextHasBegun() {
    var collector = GroupCollector()
    for index in 0..<100 {
      let group = collector.begin(accessUnit: 2 * index, isIDR: false)
      #expect(group == index)
      if index > 0 { #expect(collector.nextComplete()?.accessUnit == 2 * index - 2) }
      collector.addFrame(size: 10)
      collector.addFrame(size: 5)
      for (type, isKeyframe) in [(SliceType.i, true), (.p, false)] {
        var tag = FrameTag(index: index, type: type)
        tag.isKeyframe = isKeyframe
        tag.group = group
        collector.output(tag)
        // More frames could come.
        #expect(collector.nextComplete() == nil)
      }
    }
    let last = collector.nextComplete(atEnd: true)
    #expect(last?.length == 2)
    #expect(last?.size == 15)
    #expect(last?.pattern == Array("IP".utf8))
    #expect(last?.isClosed == true)
  }

  @Test func manyGroupsMayWaitForTheirOutput() {
    var collector = GroupCollector()
    for index in 0..<300 {
      _ = collector.begin(accessUnit: index, isIDR: true)
      collector.addFrame(size: 1)
    }
    #expect(collector.nextComplete() == nil)
    for index in 0..<300 {
      var tag = FrameTag(index: index, type: .i)
      tag.isKeyframe = true
      tag.group = index
      collector.output(tag)
      if index == 149 {
        for expected in 0..<150 { #expect(collector.nextComplete()?.accessUnit == expected) }
        #expect(collector.nextComplete() == nil)
      }
    }
    for expected in 150..<299 { #expect(collector.nextComplete()?.accessUnit == expected) }
    #expect(collector.nextComplete() == nil)
    #expect(collector.nextComplete(atEnd: true)?.accessUnit == 299)
    #expect(collector.nextComplete(atEnd: true) == nil)
  }

  @Test func runsOfBFramesAreCountedInOutputOrder() {
    var collector = GroupCollector()
    for type in [.i, .b, .b, .p, .b, .i, .b, .b, .b] as [SliceType] {
      collector.output(FrameTag(index: 0, type: type))
    }
    #expect(collector.longestBRun == 3)
  }
}
