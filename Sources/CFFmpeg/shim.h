// The one door to FFmpeg: its headers, and what Swift cannot import from them.
#ifndef NALU_CFFMPEG_SHIM_H
#define NALU_CFFMPEG_SHIM_H

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavformat/avio.h>
#include <libavutil/avutil.h>
#include <libavutil/display.h>
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/md5.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

// Macros with casts are not imported.
static const int nalu_error_again = AVERROR(EAGAIN);
static const int nalu_error_end_of_stream = AVERROR_EOF;
static const int nalu_error_invalid_data = AVERROR_INVALIDDATA;
static const int64_t nalu_no_pts = AV_NOPTS_VALUE;
static const int nalu_flag_closed_gop = (int)AV_CODEC_FLAG_CLOSED_GOP;
static const int nalu_flag_interlaced = AV_CODEC_FLAG_INTERLACED_DCT;

// libav logs through a function that takes a va_list, which Swift cannot represent: the line is
// formatted here and handed on whole. One receiver per process.
typedef void (*nalu_log_receiver)(int level, const char *line);

// Swift does not emit variables at file scope.
static inline nalu_log_receiver *nalu_log_current(void) {
  static nalu_log_receiver receiver;
  return &receiver;
}

static inline int *nalu_log_level(void) {
  static int level = AV_LOG_QUIET;
  return &level;
}

// A decoder may have a counter of its complaints, int, in AVCodecContext.opaque: errors, and that
// something was concealed. It is the only way to learn of them from a decoder with frame threads,
// whose copies of the context carry the same pointer.
static inline void nalu_count_complaint(void *context, int level, const char *format) {
  const AVClass *kind = context ? *(const AVClass **)context : NULL;
  if (kind == NULL || strcmp(kind->class_name, "AVCodecContext") != 0) return;
  int *counter = ((AVCodecContext *)context)->opaque;
  if (counter == NULL || (level > AV_LOG_ERROR && strncmp(format, "concealing", 10) != 0)) return;
  __atomic_fetch_add(counter, 1, __ATOMIC_RELEASE);
}

static inline int nalu_complaints(const int *counter) {
  return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

// libx264 has a line for every frame: lines that nobody wants are not formatted.
static inline void nalu_log_format(void *context, int level, const char *format, va_list values) {
  char line[1024];
  int print_prefix = 1;
  nalu_count_complaint(context, level, format);
  if (level > __atomic_load_n(nalu_log_level(), __ATOMIC_RELAXED)) return;
  av_log_format_line2(context, level, format, values, line, sizeof line, &print_prefix);
  (*nalu_log_current())(level, line);
}

// Called once, before anything else of libav.
static inline void nalu_log_install(nalu_log_receiver receiver) {
  *nalu_log_current() = receiver;
  av_log_set_callback(nalu_log_format);
}

// Lines up to this level are handed on; AV_LOG_QUIET means none.
static inline void nalu_log_set_level(int level) {
  __atomic_store_n(nalu_log_level(), level, __ATOMIC_RELAXED);
}

#endif
