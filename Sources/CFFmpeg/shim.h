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

// What is to be done with the log of a context: AVCodecContext.opaque may point at one of these.
struct nalu_log_target {
  // Errors, and that something was concealed. It is the only way to learn of them from a decoder
  // with frame threads, whose copies of the context carry the same pointer.
  int complaints;
  // Lines above this level are not even formatted: libx264 has one for every frame.
  int level;
  // Whose messages they are, for the receiver; NULL when nobody wants them.
  void *messages;
};

// libav logs through a function that takes a va_list, which Swift cannot represent: the line is
// formatted here and handed on whole. One receiver per process.
typedef void (*nalu_log_receiver)(void *messages, int level, const char *module, const char *line);

// Swift does not emit variables at file scope.
static inline nalu_log_receiver *nalu_log_current(void) {
  static nalu_log_receiver receiver;
  return &receiver;
}

// Where lines go that this thread causes in contexts which say nothing of it.
static inline struct nalu_log_target **nalu_log_of_thread(void) {
  static _Thread_local struct nalu_log_target *target;
  return &target;
}

// What interrupts the work of the calling thread.
static inline void **nalu_interruption_of_thread(void) {
  static _Thread_local void *interruption;
  return &interruption;
}

static inline struct nalu_log_target *nalu_log_of_context(void *context) {
  const AVClass *kind = context ? *(const AVClass **)context : NULL;
  if (kind == NULL || strcmp(kind->class_name, "AVCodecContext") != 0) return NULL;
  return ((AVCodecContext *)context)->opaque;
}

static inline int nalu_complaints(const struct nalu_log_target *target) {
  return __atomic_load_n(&target->complaints, __ATOMIC_ACQUIRE);
}

static inline void nalu_log_format(void *context, int level, const char *format, va_list values) {
  char line[512];
  int print_prefix = 0;
  struct nalu_log_target *target = nalu_log_of_context(context);
  if (target && (level <= AV_LOG_ERROR || strncmp(format, "concealing", 10) == 0))
    __atomic_fetch_add(&target->complaints, 1, __ATOMIC_RELEASE);
  if (target == NULL) target = *nalu_log_of_thread();
  if (target == NULL || target->messages == NULL || level > target->level) return;
  av_log_format_line2(context, level, format, values, line, sizeof line, &print_prefix);
  const AVClass *kind = context ? *(const AVClass **)context : NULL;
  (*nalu_log_current())(target->messages, level, kind ? kind->item_name(context) : "", line);
}

// Called once, before anything else of libav.
static inline void nalu_log_install(nalu_log_receiver receiver) {
  *nalu_log_current() = receiver;
  av_log_set_callback(nalu_log_format);
}

#endif
