#pragma once
// Times of a record, as a human needs them who has to decide about speed.

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace rungs::classroom {

/// A table of the times that a rung's speed follows from: of each runner, and of what the baseline's call
/// takes for one of the rung's in the same pair. Empty where it was not timed.
/// @param result  a rung of docs/result.schema.json, also one that has no single times yet
std::vector<std::string> table_of_times(const nlohmann::ordered_json& result);

}  // namespace rungs::classroom
