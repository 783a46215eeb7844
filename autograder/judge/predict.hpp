#pragma once
// Rungs of kind predict: numbers that a student has written down are compared with what the judge counts of
// given rungs and references. Nothing of a student's is run or compiled, and no library reads the file.

#include <optional>
#include <string>
#include <vector>

#include "judge/result/result.hpp"
#include "judge/trial.hpp"

namespace rungs::judge {

/// An answer as the student's file has it.
struct Answer {
    std::optional<double> value;  ///< none: "?", or no line at all
    unsigned line = 0;            ///< 0: there is none
};

/// The number in `text`, which a question's answer may be. @throws Rejected, which says what is expected
double read_answer(const Question& question, const std::string& text);

/// The answers of a file, in the order of the questions. @throws Rejected, beginning with `name`:LINE
std::vector<Answer> read_answers(const RungEntry& rung, const std::string& text, const std::string& name);

/// The same file with an answer put in. @throws Rejected as read_answers does
std::string with_answer(const RungEntry& rung, const std::string& text, const std::string& name,
                        std::size_t question, const std::string& answer);

/// What is counted, for each question. The same on every backend: check mode counts.
/// @throws InfraError, Stopped
std::vector<double> count_answers(const Trial& trial);

/// What a counter's value is in a tally, but for the modelled ones. @throws std::out_of_range for any other
/// name
double counter_of(const std::string& counter, const Tally& tally);
/// Whether such a counter is known of each line, and not of a launch as a whole. @throws as above
bool counter_is_of_lines(const std::string& counter);

bool is_right(const Question& question, double answer, double counted);

/// The call that a question is about.
Case case_of(const Question& question);

/// The manifest itself as the source means the reference: its answers are what is counted.
void judge_answers(RungResult& result, const Trial& trial);

}  // namespace rungs::judge
