import H264
import Testing

@Suite struct PictureOrderCountTests {
  private typealias Picture = PictureOrderCount.Picture

  private static func picture(_ change: (inout Picture) -> Void) -> Picture {
    var picture = Picture()
    picture.isReference = true
    change(&picture)
    return picture
  }

  private static func counts(
    _ coding: PictureOrderCount.Coding, _ pictures: [Picture]
  ) -> [FieldOrderCounts] {
    var order = PictureOrderCount()
    return pictures.map { order.next($0, coding) }
  }

  @Test func type0FollowsTheLeastSignificantBitsAcrossTheirWrap() {
    let found = Self.counts(
      PictureOrderCount.Coding(),
      [0, 6, 12, 2, 8, 14, 10].enumerated().map { index, lsb in
        Self.picture {
          $0.isIDR = index == 0
          $0.picOrderCntLsb = lsb
        }
      })
    #expect(found.map(\.picOrderCnt) == [0, 6, 12, 18, 24, 30, 26])
  }

  @Test func type0CountsFromTheLastReferencePicture() {
    let found = Self.counts(
      PictureOrderCount.Coding(),
      [(0, true), (14, true), (7, false), (4, true)].map { lsb, isReference in
        Self.picture {
          $0.picOrderCntLsb = lsb
          $0.isReference = isReference
        }
      })
    #expect(found.map(\.picOrderCnt) == [0, -2, -9, 4])
  }

  @Test func type0HasADistanceBetweenTheFieldsOfAFrame() {
    let found = Self.counts(
      PictureOrderCount.Coding(),
      [
        Self.picture {
          $0.isIDR = true
          $0.deltaPicOrderCntBottom = -1
        },
        Self.picture {
          $0.structure = .topField
          $0.picOrderCntLsb = 4
        },
        Self.picture {
          $0.structure = .bottomField
          $0.picOrderCntLsb = 5
        },
      ])
    #expect(found[0] == FieldOrderCounts(top: 0, bottom: -1))
    #expect(found[0].picOrderCnt == -1)
    #expect(found[1] == FieldOrderCounts(top: 4))
    #expect(found[2] == FieldOrderCounts(bottom: 5))
  }

  @Test func type0StartsAgainAfterAReset() {
    let found = Self.counts(
      PictureOrderCount.Coding(),
      [
        Self.picture { $0.isIDR = true },
        Self.picture {
          $0.picOrderCntLsb = 7
          $0.deltaPicOrderCntBottom = 2
          $0.resets = true
        },
        Self.picture { $0.picOrderCntLsb = 3 },
        Self.picture {
          $0.structure = .bottomField
          $0.picOrderCntLsb = 6
          $0.resets = true
        },
        Self.picture { $0.picOrderCntLsb = 1 },
      ])
    #expect(found.map(\.picOrderCnt) == [0, 0, 3, 0, 1])
    #expect(found[1] == FieldOrderCounts(top: 0, bottom: 2))
  }

  @Test func type1AddsDeviationsToACycle() {
    var coding = PictureOrderCount.Coding()
    coding.type = 1
    coding.offsetForNonRefPic = -2
    coding.offsetForTopToBottomField = 1
    coding.offsetForRefFrame = [2, 4]
    let frames: [(Int, Bool, Int)] = [
      (0, true, 0), (1, true, 0), (2, false, 0), (2, true, 1), (3, true, 0),
    ]
    let found = Self.counts(
      coding,
      frames.enumerated().map { index, frame in
        Self.picture {
          $0.isIDR = index == 0
          $0.frameNum = frame.0
          $0.isReference = frame.1
          $0.deltaPicOrderCnt0 = frame.2
        }
      })
    // Expected after n frames of the cycle: 0, 2, 6, 8; a picture that is no reference takes the
    // value of the one before, and its offset.
    #expect(found.map(\.top) == [0, 2, 0, 7, 8])
    #expect(found.map(\.bottom) == [1, 3, 1, 8, 9])
  }

  @Test(arguments: [1, 2])
  func frameNumWrapsIntoAnOffset(type: Int) {
    var coding = PictureOrderCount.Coding()
    coding.type = type
    coding.offsetForRefFrame = [2]
    let found = Self.counts(
      coding,
      [0, 8, 15, 0, 4].enumerated().map { index, number in
        Self.picture {
          $0.isIDR = index == 0
          $0.frameNum = number
        }
      })
    #expect(found.map(\.picOrderCnt) == [0, 16, 30, 32, 40])
  }

  @Test func type2IsDecodingOrder() {
    var coding = PictureOrderCount.Coding()
    coding.type = 2
    let found = Self.counts(
      coding,
      [(0, true, false), (1, false, false), (1, true, false), (2, true, true), (1, true, false)]
        .enumerated().map { index, frame in
          Self.picture {
            $0.isIDR = index == 0
            $0.frameNum = frame.0
            $0.isReference = frame.1
            $0.resets = frame.2
          }
        })
    #expect(found.map(\.picOrderCnt) == [0, 1, 2, 0, 2])
  }

  @Test func wildValuesDoNotTrap() {
    var coding = PictureOrderCount.Coding()
    coding.type = 1
    coding.maxFrameNum = 1 << 62
    coding.offsetForRefFrame = [Int](repeating: .max, count: 255)
    var order = PictureOrderCount()
    for number in [5, 4, 3, 2, 1, 0] {
      _ = order.next(Self.picture { $0.frameNum = number }, coding)
    }
    coding.maxFrameNum = 0
    coding.maxPicOrderCntLsb = 0
    coding.type = 0
    _ = order.next(Self.picture { $0.picOrderCntLsb = .max }, coding)
  }
}
