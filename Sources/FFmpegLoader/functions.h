// The functions of FFmpeg that Codec calls, by library; the linker names one that is missing here.

#define AVUTIL_FUNCTIONS(X) \
  X(av_buffer_alloc) \
  X(av_buffer_create) \
  X(av_buffer_ref) \
  X(av_channel_layout_default) \
  X(av_dict_free) \
  X(av_dict_set) \
  X(av_frame_alloc) \
  X(av_frame_copy_props) \
  X(av_frame_free) \
  X(av_frame_get_buffer) \
  X(av_frame_get_side_data) X(av_frame_ref) \
  X(av_free) \
  X(av_get_pix_fmt_name) \
  X(av_image_get_buffer_size) \
  X(av_image_get_linesize) \
  X(av_log_format_line2) \
  X(av_log_set_callback) \
  X(av_malloc) \
  X(av_mallocz) \
  X(av_md5_alloc) \
  X(av_md5_final) \
  X(av_md5_init) \
  X(av_md5_update) \
  X(av_opt_set) \
  X(av_opt_set_dict_val) \
  X(av_opt_set_double) \
  X(av_opt_set_int) \
  X(av_pix_fmt_desc_get) \
  X(avutil_version)

#define AVCODEC_FUNCTIONS(X) \
  X(av_bsf_alloc) \
  X(av_bsf_free) \
  X(av_bsf_get_by_name) \
  X(av_bsf_init) \
  X(av_bsf_receive_packet) \
  X(av_bsf_send_packet) \
  X(av_new_packet) \
  X(av_packet_alloc) \
  X(av_packet_free) \
  X(av_packet_rescale_ts) \
  X(av_packet_get_side_data) \
  X(av_packet_unref) \
  X(avcodec_alloc_context3) \
  X(avcodec_find_decoder) \
  X(avcodec_find_encoder) \
  X(avcodec_find_encoder_by_name) \
  X(avcodec_flush_buffers) \
  X(avcodec_free_context) \
  X(avcodec_get_name) \
  X(avcodec_open2) \
  X(avcodec_parameters_alloc) \
  X(avcodec_parameters_copy) \
  X(avcodec_parameters_free) \
  X(avcodec_receive_frame) \
  X(avcodec_receive_packet) \
  X(avcodec_send_frame) \
  X(avcodec_send_packet) \
  X(avcodec_version)

#define SWSCALE_FUNCTIONS(X) \
  X(sws_alloc_context) \
  X(sws_freeContext) \
  X(sws_getCoefficients) \
  X(sws_init_context) \
  X(sws_scale_frame) \
  X(sws_setColorspaceDetails) \
  X(swscale_version)

#define AVFORMAT_FUNCTIONS(X) \
  X(av_find_input_format) \
  X(av_interleaved_write_frame) \
  X(av_read_frame) \
  X(av_stream_get_side_data) \
  X(av_stream_new_side_data) \
  X(av_write_frame) \
  X(av_write_trailer) \
  X(avformat_alloc_context) \
  X(avformat_alloc_output_context2) \
  X(avformat_close_input) \
  X(avformat_free_context) \
  X(avformat_index_get_entries_count) \
  X(avformat_new_stream) \
  X(avformat_open_input) \
  X(avformat_version) \
  X(avformat_write_header) \
  X(avio_alloc_context) \
  X(avio_context_free) \
  X(avio_flush)
