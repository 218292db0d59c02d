// The two sentences that open every summary: the worst truth first, then the largest loss.
#pragma once

#include <string>

#include "collector/measurement/measurement.h"

namespace crema {

/// At most two sentences, a pure function of the document's budget, tables, quality, run state and `verdicts`. First
/// what is wrong with the results and the records; where nothing is, what the core-seconds were used for. Then the
/// judged cause with the largest saving; where none is worth a sentence, the largest loss or that there is none. It
/// ends with what is fine: that all chunks have results, where the records say so. It judges only what was measured: a
/// run without chunks, without a budget or with too little work gets a sentence that says so.
std::string Headline(const Measurement& measurement);

}  // namespace crema
