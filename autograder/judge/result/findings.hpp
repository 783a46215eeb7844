#pragma once
// Findings as they come from a worker, which may claim anything: read strictly, cut, cleaned.

#include <cstdint>
#include <string>
#include <vector>

#include "judge/result/report_json.hpp"
#include "judge/result/result.hpp"

namespace rungs::judge {

/// The findings of a worker's report, as parse_report() has read it: at most 50, what explains most first.
/// Their texts are printable and short. None of a report that is null.
/// @throws std::runtime_error for anything else that is no such report
std::vector<QuotedFinding> findings_of(const nlohmann::json& report);

/// The basic blocks that a worker's report says have run for the first time (simt::check::take_blocks).
/// None of a report that is null. @throws std::runtime_error as findings_of does
std::vector<std::uint64_t> blocks_of(const nlohmann::json& report);

/// Sorts by what explains most: errors first; then bad accesses, barriers, races, missing values, because a
/// race may well be the consequence of a barrier that some threads do not reach. A value that is missing
/// because it is raced for, in the same line and array, goes without a finding of its own.
void sort_findings(std::vector<QuotedFinding>& findings);

/// The line of the file `name` at a place, or where it called the header's function that is there, or 0.
unsigned line_in(const simt::check::Place& place, const std::string& name);

/// ", called at 04_norm.cu:33" of a place in a header, else empty.
std::string caller_text(const simt::check::Place& place);

/// Fills in the lines of the source that the findings name. `text` is the content of the file `name`.
void quote_source(std::vector<QuotedFinding>& findings, const std::string& name, const std::string& text);

/// "03_shared_tree.cu:28 and 03_shared_tree.cu:31: A write of ..."
std::string in_one_line(const QuotedFinding& finding);

/// The finding as the reason for a verdict.
Cause cause_of(const QuotedFinding& finding);

/// "thread (5,0,0) of block (2,0,0)"
std::string who(const simt::check::Side& side);

}  // namespace rungs::judge
