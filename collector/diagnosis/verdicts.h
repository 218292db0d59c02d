// Findings about a finished measurement: what was found, on which evidence, and what one could do about it.
#pragma once

#include "collector/diagnosis/key_figures.h"
#include "collector/diagnosis/verdict_families.h"
#include "collector/measurement/measurement.h"

namespace crema {

/// Judges a measurement. A verdict fires only on measured evidence; with too little of it the only verdicts are about
/// the measurement itself. Worst first; among equals gaps of the measurement, failing chunks, then largest saving
/// first.
std::vector<Verdict> Judge(const Measurement& measurement);

/// The rows of the document's `verdicts`: `id severity sentence evidence suggestion saving`.
std::vector<VerdictRow> VerdictRows(const std::vector<Verdict>& verdicts);

/// Sets `chunk_size_advice`, `resource_advice`, `verdicts`, `headline` and `trouble` from all else.
void AddInsight(Measurement* measurement);

// Causes with their symptoms: how the verdicts of a document are shown to people.

struct VerdictGroup {
  const VerdictRow* cause = nullptr;
  std::vector<const VerdictRow*> symptoms;
};

/// The document's verdicts, in its order. A symptom whose cause the document does not hold is alone.
std::vector<VerdictGroup> GroupVerdicts(const Measurement& measurement);

/// `≈ 12 %` of the core-seconds that could be saved; empty where that is not known, or less than 0.1 %.
std::string SavingText(const VerdictRow& verdict);

/// The mark of its severity; nullopt for an info.
std::optional<Mark> MarkOf(const VerdictRow& verdict);

/// Sets `cause` where one verdict explains another.
void FindCauses(const Measurement& measurement, std::vector<Verdict>* verdicts);

/// Worst first; a cause is as bad as what it brings, and its symptoms are behind it.
void OrderByCause(std::vector<Verdict>* verdicts);

// The two sentences that open every summary: the worst truth first, then the largest loss.

/// A loss of core-seconds that a headline names by the budget alone.
struct NamedLoss {
  std::string sentence;
  double share = 0;
  std::vector<std::string_view> parts;  ///< of the budget
  bool is_kind = false;                 ///< the kind of the run; else a verdict with a larger saving is named instead,
  std::array<std::string_view, 2> said_by = {};  ///< but for these, which would only repeat the kind
};

/// What the headline may name whatever verdicts there are.
std::vector<NamedLoss> LossesOfBudget(const Measurement& measurement, const BudgetRows& budget);

/// At most two sentences, a pure function of the document's budget, tables, quality, run state and `verdicts`. First
/// what is wrong with the results and the records; where nothing is, what the core-seconds were used for. Then the
/// judged cause with the largest saving; where none is worth a sentence, the largest loss or that there is none. It
/// ends with what is fine: that all chunks have results, where the records say so. It judges only what was measured: a
/// run without chunks, without a budget or with too little work gets a sentence that says so.
std::string Headline(const Measurement& measurement);

}  // namespace crema
