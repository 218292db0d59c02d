// docs/verdicts.md, written from the table that the code judges by.
#pragma once

#include <string>

namespace crema {

/// The page, in Markdown.
std::string VerdictsPage();

}  // namespace crema
