#include "byte_search.h"

// A place matches when its byte, the next one and the upper six bits of the third are all zero: the
// OR of the three is then 0, and so is the least of many such.

#if defined(__SSE2__)
#include <emmintrin.h>

static inline __m128i ored(const uint8_t *place) {
  const __m128i upper = _mm_set1_epi8((char)0xFC);
  __m128i first = _mm_loadu_si128((const __m128i *)place);
  __m128i second = _mm_loadu_si128((const __m128i *)(place + 1));
  __m128i third = _mm_loadu_si128((const __m128i *)(place + 2));
  return _mm_or_si128(_mm_or_si128(first, second), _mm_and_si128(third, upper));
}

static inline int has_match(const uint8_t *place) {
  __m128i least = _mm_min_epu8(_mm_min_epu8(ored(place), ored(place + 16)),
                               _mm_min_epu8(ored(place + 32), ored(place + 48)));
  return _mm_movemask_epi8(_mm_cmpeq_epi8(least, _mm_setzero_si128()));
}

#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>

static inline uint8x16_t ored(const uint8_t *place) {
  uint8x16_t third = vandq_u8(vld1q_u8(place + 2), vdupq_n_u8(0xFC));
  return vorrq_u8(vorrq_u8(vld1q_u8(place), vld1q_u8(place + 1)), third);
}

static inline int has_match(const uint8_t *place) {
  uint8x16_t least = vminq_u8(vminq_u8(ored(place), ored(place + 16)),
                              vminq_u8(ored(place + 32), ored(place + 48)));
  return vminvq_u8(least) == 0;
}

#else

static inline int has_match(const uint8_t *place) {
  (void)place;
  return 1;
}

#endif

size_t nalu_zero_pair_end(const uint8_t *bytes, size_t count, size_t first) {
  size_t index = first;
  // 64 places at a time, of which the last looks at two bytes more.
  while (index + 64 <= count && !has_match(bytes + index - 2)) index += 64;
  // Byte by byte: one above 3 rules out three places.
  while (index < count) {
    if (bytes[index] > 3) {
      index += 3;
    } else if (bytes[index - 1] == 0 && bytes[index - 2] == 0) {
      return index;
    } else {
      index += bytes[index] == 0 ? 1 : 3;
    }
  }
  return count;
}
