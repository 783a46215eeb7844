#pragma once
// SHA-256 (FIPS 180-4), for names in the cache: a submission must not be able to collide with another's.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace rungs::judge {

class Sha256 {
  public:
    /// Adds `text` and its length, so that ("ab", "c") and ("a", "bc") differ.
    Sha256& add(std::string_view text);
    /// Adds the content of a file. @throws FileError
    Sha256& add_file(const std::filesystem::path& file);
    /// 64 hexadecimal digits. Call once.
    std::string hex();

    /// Of `text` alone, without its length: what sha256sum prints.
    static std::string of(std::string_view text);

  private:
    void bytes(const unsigned char* data, std::size_t count);
    void block(const unsigned char* data);

    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<unsigned char, 64> pending_{};
    std::size_t filled_ = 0;
    std::uint64_t total_ = 0;
};

}  // namespace rungs::judge
