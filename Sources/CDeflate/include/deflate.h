#ifndef NALU_DEFLATE_H
#define NALU_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

/// A compressor with its memory, for one thread at a time.
typedef struct nalu_deflater nalu_deflater;

/// NULL when there is no memory.
nalu_deflater *_Nullable nalu_deflater_new(void);
void nalu_deflater_free(nalu_deflater *_Nonnull deflater);

/// The most bytes that `count` bytes can become.
size_t nalu_deflate_bound(size_t count);

/// Compresses into the zlib format (RFC 1950); the bytes written, 0 when `capacity` is less than
/// the bound and does not suffice, or `count` is over 4 GiB.
size_t nalu_deflate(
    nalu_deflater *_Nonnull deflater, const uint8_t *_Nonnull input, size_t count,
    uint8_t *_Nonnull output, size_t capacity);

/// The checksum of PNG chunks (ISO/IEC 15948 annex D), continued from `sum`; 0 at first.
uint32_t nalu_crc32(uint32_t sum, const uint8_t *_Nonnull bytes, size_t count);

#endif
