// The one door to libdeflate.
#ifndef NALU_CDEFLATE_SHIM_H
#define NALU_CDEFLATE_SHIM_H

#include <libdeflate.h>

#endif
