#pragma once
// The judge's own GPU memory. Built without CUDA there is no device, and every function but missing() throws.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rungs::judge {

class Device {
  public:
    /// Why no GPU can be used; empty when one can.
    static std::string missing();

    /// Allocates `bytes` on the first device. @throws std::bad_alloc where it has no more, std::runtime_error
    explicit Device(std::size_t bytes);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    /// How another process opens this memory. @returns false where the system has no such thing.
    bool share(unsigned char (&handle)[64]) const;

    /// A part of this memory and its likeness on the host, all in bytes.
    template <class Byte>
    struct Piece {
        std::size_t offset;
        Byte* host;
        std::size_t bytes;
    };

    /// Each returns when the device has finished. @throws std::runtime_error
    void upload(const std::vector<Piece<const std::byte>>& pieces);
    void download(const std::vector<Piece<std::byte>>& pieces) const;
    void fill(std::size_t offset, std::uint32_t word, std::size_t bytes);

    /// How much of the device's memory nobody has, from 0 to 1.
    static double free_part();

    /// Of the device, as other libraries know it: "0000:3b:00.0".
    static std::string bus_id();

    /// Nothing stays in the cache because somebody has asked for that.
    static void reset_persisting_cache();

    /// Begins to copy `bytes` from `offset` of `from` to `to` of this memory; wait() returns when all that
    /// was begun is done.
    void take(std::size_t to, const Device& from, std::size_t offset, std::size_t bytes);
    void wait();

    /// Bytes a second, read and written together, of a device copy of the larger half of this memory.
    double copy_bandwidth();

    /// Operations a second, two for a fused multiply-add of floats, where the device does nothing else.
    static double fma_roof();

  private:
    [[maybe_unused]] void* memory_ = nullptr;  // without nvcc
    [[maybe_unused]] std::size_t bytes_ = 0;
};

}  // namespace rungs::judge
