// In place of judge/result/defences.cpp.

#include "undefended.hpp"

#include "judge/result/defences.hpp"

namespace rungs::judge {

std::uint64_t defences_off = 0;

bool is_on(Defence defence) { return (defences_off >> static_cast<int>(defence) & 1U) == 0; }
bool all_are_on() { return defences_off == 0; }

}  // namespace rungs::judge
