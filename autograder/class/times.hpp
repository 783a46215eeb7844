#pragma once
// Times of a record, as a human needs them who has to decide about speed.

#include <string>
#include <vector>

#include "judge/result/result.hpp"

namespace rungs::classroom {

/// A table of the times that a rung's speed follows from: of each runner, and of what the baseline's call
/// takes for one of the rung's in the same pair. Empty where it was not timed, and of an old record, which
/// has no single times.
std::vector<std::string> table_of_times(const judge::RungResult& result);

}  // namespace rungs::classroom
