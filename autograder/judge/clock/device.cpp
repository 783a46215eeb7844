// Without CUDA: device.cu is not compiled, and this stands in for it.
#ifndef RUNGS_WITH_CUDA

#include "judge/clock/device.hpp"

#include <stdexcept>

namespace rungs::judge {
namespace {

[[noreturn]] void none() { throw std::logic_error("this build has no cuda backend"); }

}  // namespace

std::string Device::missing() { return "the cuda backend was not built here: no nvcc was found"; }
Device::Device(std::size_t) { none(); }
Device::~Device() = default;
bool Device::share(unsigned char (&)[64]) const { none(); }
void Device::upload(const std::vector<Piece<const std::byte>>&) { none(); }
void Device::download(const std::vector<Piece<std::byte>>&) const { none(); }
void Device::fill(std::size_t, std::uint32_t, std::size_t) { none(); }
double Device::free_part() { none(); }
std::string Device::bus_id() { none(); }
void Device::reset_persisting_cache() { none(); }
void Device::take(std::size_t, const Device&, std::size_t, std::size_t) { none(); }
void Device::wait() { none(); }
double Device::copy_bandwidth() { none(); }
double Device::fma_roof() { none(); }

}  // namespace rungs::judge

#endif
