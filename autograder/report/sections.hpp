#pragma once
// What a page says about one rung: on the page of a run, and on a student's page of a class.

#include <string>

#include "judge/result/result.hpp"

namespace rungs {

// Rows of a list of facts (report/page.hpp).

/// Cases, the one that failed, how far off it is, and what explains it.
void add_correctness(std::string& html, const judge::RungResult& result);
/// What check mode looked at.
void add_checks(std::string& html, const judge::ChecksResult& checks);
/// Measured and modelled speed, or why there is none.
void add_speed(std::string& html, const judge::RungResult& result);

// Sections below these facts; empty where there is nothing to tell.

/// What was asked, and what was answered.
std::string answers_section(const judge::RungResult& result);
/// What check mode or compute-sanitizer found, one card each.
std::string findings_section(const judge::ChecksResult& checks);
/// The first wrong elements of the failing case.
std::string mismatches_section(const judge::RungResult& result);

/// "03_shared_tree.cu:28:13"; empty if it is not known.
std::string place_text(const simt::check::Place& place);

}  // namespace rungs
