// What GET /healthz costs at least: the same headers from a plain libmicrohttpd handler, with the
// same threads.
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <microhttpd.h>

static enum MHD_Result answer(void *closure, struct MHD_Connection *connection, const char *target,
                              const char *method, const char *version, const char *upload,
                              size_t *size, void **context) {
  static char body[] = "ok\n";
  struct MHD_Response *response =
      MHD_create_response_from_buffer(sizeof body - 1, body, MHD_RESPMEM_PERSISTENT);
  MHD_add_response_header(response, "Content-Type", "text/plain");
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  MHD_add_response_header(response, "Content-Security-Policy",
                          "default-src 'none'; frame-ancestors 'none'");
  MHD_add_response_header(response, "Cache-Control", "no-store");
  enum MHD_Result result = MHD_queue_response(connection, 200, response);
  MHD_destroy_response(response);
  return result;
}

int main(void) {
  struct MHD_Daemon *daemon = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, NULL, MHD_OPTION_THREAD_POOL_SIZE, 2u,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32 << 10, MHD_OPTION_END);
  if (daemon == NULL) return 1;
  printf("http://127.0.0.1:%d\n",
         MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
  fflush(stdout);
  pause();
  return 0;
}
