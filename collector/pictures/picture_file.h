// Pictures and specifications on disk: each with a mark that says who wrote it, put in place whole or not at all.
#ifndef CREMA_COLLECTOR_PICTURES_PICTURE_FILE_H_
#define CREMA_COLLECTOR_PICTURES_PICTURE_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace crema {

/// `content`, marked as written by crema: a text chunk of a PNG (PNG specification, section 11.3.3), a comment in SVG
/// and PDF. A specification has its mark already (`usermeta`), and what is no picture stays as it is.
std::string MarkedPicture(std::string content, std::string_view format);

/// Whether crema wrote a file, from its content.
bool IsMarkedPicture(std::string_view content);

/// Errors: something is there that is no regular file, or that crema did not write (unless `force`).
absl::Status CheckMayReplacePicture(const std::string& path, bool force);

/// Writes under a temporary name in the same directory, which it makes, syncs and renames.
absl::Status WritePicture(const std::string& path, const std::string& content);

}  // namespace crema

#endif  // CREMA_COLLECTOR_PICTURES_PICTURE_FILE_H_
