// The one door to libmicrohttpd: its header, and its variadic calls wrapped.
#ifndef NALU_CMICROHTTPD_SHIM_H
#define NALU_CMICROHTTPD_SHIM_H

#include <stdarg.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/socket.h>
#include <microhttpd.h>

#endif
