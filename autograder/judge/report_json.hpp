#pragma once
// Reads what a worker reports as JSON, which may be anything.

#include <string>

#include <nlohmann/json.hpp>

namespace rungs::judge {

/// Parses the text of a report (Worker::report). A few bytes of JSON can take hundreds in memory: what would
/// take more than a report of this size needs is refused.
/// @throws std::runtime_error for what is no JSON, and for too much of it
nlohmann::json parse_report(const std::string& text);

}  // namespace rungs::judge
