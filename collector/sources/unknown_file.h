// Files that crema does not read, and what to give it instead.
#ifndef CREMA_COLLECTOR_SOURCES_UNKNOWN_FILE_H_
#define CREMA_COLLECTOR_SOURCES_UNKNOWN_FILE_H_

#include <string>

namespace crema {

/// What a file is that no reader takes, and what to do: `is sacct's output without its header; run sacct without
/// --noheader`.
std::string DescribeUnknownFile(const std::string& path);

/// The same of a directory in which nothing was found.
std::string DescribeUnknownDirectory(const std::string& path);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_UNKNOWN_FILE_H_
