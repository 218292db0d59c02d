// Guards for ROOT's event loops: include this one. Needs ROOT 6.40 or newer, and its C++ standard; docs/root.md.
#ifndef CREMA_ROOT_H_
#define CREMA_ROOT_H_

// clang-format off: before ROOT's own headers, which would fail with less clear words
#include "crema/root/requirements.h"
// clang-format on

#include "crema/crema.h"                  // IWYU pragma: export
#include "crema/root/chunks.h"            // IWYU pragma: export
#include "crema/root/timed.h"             // IWYU pragma: export
#include "crema/root/track_data_frame.h"  // IWYU pragma: export
#include "crema/root/track_ntuple.h"      // IWYU pragma: export
#include "crema/root/track_reader.h"      // IWYU pragma: export

#endif  // CREMA_ROOT_H_
