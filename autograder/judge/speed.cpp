#include "speed.hpp"
namespace rungs::judge {
void judge_speed(RungResult&, const Manifest&, const RungEntry&, const std::filesystem::path&, const Exam&,
                 const JudgeOptions&) {}
}  // namespace rungs::judge
