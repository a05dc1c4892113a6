// The one door to libmicrohttpd and the GnuTLS beneath it: their headers, and the variadic calls
// wrapped.
#ifndef NALU_CMICROHTTPD_SHIM_H
#define NALU_CMICROHTTPD_SHIM_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/socket.h>
#include <microhttpd.h>
#include <gnutls/gnutls.h>
#include <gnutls/abstract.h>

/// Where libmicrohttpd's log lines go.
struct nalu_http_logger {
  void (*line)(void *context, const char *text);
  void *context;
};

static void nalu_http_log(void *logger, const char *format, va_list arguments) {
  const struct nalu_http_logger *to = (const struct nalu_http_logger *)logger;
  char text[512];
  vsnprintf(text, sizeof text, format, arguments);
  to->line(to->context, text);
}

static inline struct MHD_Daemon *nalu_http_start(
    unsigned flags, MHD_AccessHandlerCallback handler, void *context,
    struct nalu_http_logger *logger, const struct MHD_OptionItem *options) {
  return MHD_start_daemon(
      flags, 0, NULL, NULL, handler, context,
      // First, so that complaints about the other options are logged too.
      MHD_OPTION_EXTERNAL_LOGGER, nalu_http_log, logger,
      MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

static inline int nalu_http_descriptor(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

static inline const struct sockaddr *nalu_http_client_address(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : NULL;
}

/// Has libmicrohttpd look at the connection within a second. On the connection's I/O thread only.
static inline void nalu_http_look_soon(struct MHD_Connection *connection) {
  MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 1u);
}

/// The TLS session of the connection, or NULL. GnuTLS lets one thread send while another receives:
/// beside the connection's I/O thread, one other may send as long as that thread only receives.
static inline gnutls_session_t nalu_http_session(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
  return info ? (gnutls_session_t)info->tls_session : NULL;
}

/// What the NOTIFY_CONNECTION callback stored for the connection.
static inline void *nalu_http_connection_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

/// Bytes of the request's head as received, from the method to the empty line.
static inline size_t nalu_http_head_size(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info ? info->header_size : 0;
}

/// Sends the response as to an HTTP/1.0 client: never chunked.
static inline void nalu_http_forbid_chunks(struct MHD_Response *response) {
  MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

static const uint64_t nalu_http_size_unknown = MHD_SIZE_UNKNOWN;
static const ssize_t nalu_http_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;

#endif
