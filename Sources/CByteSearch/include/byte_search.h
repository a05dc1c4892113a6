#ifndef NALU_BYTE_SEARCH_H
#define NALU_BYTE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/// The first index from `first` (2 or more) on of a byte up to 3 that two zero bytes precede, or
/// `count` when there is none.
size_t nalu_zero_pair_end(const uint8_t *bytes, size_t count, size_t first);

#endif
