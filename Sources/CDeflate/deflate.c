// ISA-L's state is a structure of 80 KB, more than Swift would import.
#include "deflate.h"

#include <isa-l.h>
#include <stdlib.h>

enum { LEVEL = 1 };

struct nalu_deflater {
  struct isal_zstream stream;
  uint8_t tables[ISAL_DEF_LVL1_DEFAULT];
};

nalu_deflater *nalu_deflater_new(void) { return malloc(sizeof(nalu_deflater)); }

void nalu_deflater_free(nalu_deflater *deflater) { free(deflater); }

size_t nalu_deflate_bound(size_t count) {
  // Blocks that do not shrink are stored, with a few bytes around each.
  return count + count / 8 + 4096;
}

size_t nalu_deflate(
    nalu_deflater *deflater, const uint8_t *input, size_t count, uint8_t *output, size_t capacity) {
  struct isal_zstream *stream = &deflater->stream;
  if (count > UINT32_MAX || capacity > UINT32_MAX) return 0;
  isal_deflate_init(stream);
  stream->level = LEVEL;
  stream->level_buf = deflater->tables;
  stream->level_buf_size = sizeof deflater->tables;
  stream->gzip_flag = IGZIP_ZLIB;
  stream->end_of_stream = 1;
  stream->flush = NO_FLUSH;
  stream->next_in = (uint8_t *)input;
  stream->avail_in = (uint32_t)count;
  stream->next_out = output;
  stream->avail_out = (uint32_t)capacity;
  int result = isal_deflate(stream);
  int isWhole = result == COMP_OK && stream->internal_state.state == ZSTATE_END;
  return isWhole ? stream->total_out : 0;
}

uint32_t nalu_crc32(uint32_t sum, const uint8_t *bytes, size_t count) {
  return crc32_gzip_refl(sum, bytes, count);
}
