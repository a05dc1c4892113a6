// The one door to libarchive.
#ifndef NALU_CARCHIVE_SHIM_H
#define NALU_CARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>

// Macros with casts are not imported.
static const unsigned nalu_regular_file = AE_IFREG;

#endif
