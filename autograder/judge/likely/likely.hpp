#pragma once
// Why outputs are wrong: the judge holds the rung's reference, so it can make mistakes in it and see which of
// them gives what the rung has left.

#include <memory>
#include <string>
#include <vector>

#include "judge/trial.hpp"

namespace rungs::judge {

/// One call of a rung whose outputs were wrong.
struct WrongCall {
    Case which;
    std::shared_ptr<const Task> task;
    std::vector<Array> outputs;
};

/// Looks for the mistake that, made in the reference, gives the outputs of all `calls`; the first one should
/// be small. The mutants of a rung are compiled once. They run like a submission: confined, in a process that
/// may fail. Not for repair rungs, where it would be the answer, nor for summits, whose design is free.
/// @returns a sentence without its full stop; empty: no mistake gives these outputs, or there was no time
/// @throws Stopped, InfraError
std::string likely_mistake(const Trial& trial, const std::vector<WrongCall>& calls);

}  // namespace rungs::judge
