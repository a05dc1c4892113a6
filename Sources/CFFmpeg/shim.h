// The one door to FFmpeg: its headers, and what Swift cannot import from them.
#ifndef NALU_CFFMPEG_SHIM_H
#define NALU_CFFMPEG_SHIM_H

#include <errno.h>
#include <libavcodec/avcodec.h>
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

#endif
