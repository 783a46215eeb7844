#include "rungs/npy.hpp"

#include <charconv>
#include <limits>
#include <stdexcept>

namespace rungs::detail {
namespace {

constexpr std::string_view magic("\x93NUMPY\x01\x00", 8);
constexpr std::size_t alignment = 64;  // of the elements in the file, so that they can be mapped

/// The text after `'key':` in a header, without leading spaces; empty if there is no such key.
std::string_view after_key(std::string_view header, std::string_view key) {
    const std::string quoted = "'" + std::string(key) + "':";
    const std::size_t at = header.find(quoted);
    if (at == std::string_view::npos) return {};
    header.remove_prefix(at + quoted.size());
    const std::size_t start = header.find_first_not_of(' ');
    return start == std::string_view::npos ? std::string_view() : header.substr(start);
}

}  // namespace

void write_npy(const std::filesystem::path& path, const void* values, std::size_t count, std::size_t element,
               const std::string& type, std::span<const std::size_t> shape) {
    std::size_t product = 1;
    std::string dimensions;
    for (const std::size_t extent : shape) {
        product *= extent;
        dimensions += std::to_string(extent) + (shape.size() == 1 ? "," : ", ");
    }
    if (shape.size() > 1) dimensions.resize(dimensions.size() - 2);
    if (product != count) {
        throw std::invalid_argument("write_npy: shape (" + dimensions + ") has " + std::to_string(product) +
                                    " elements, not " + std::to_string(count));
    }
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + dimensions + "), }";
    const std::size_t unpadded = magic.size() + 2 + header.size() + 1;
    header.append((alignment - unpadded % alignment) % alignment, ' ');
    header += '\n';

    std::string file(magic);
    file += static_cast<char>(header.size() & 0xff);
    file += static_cast<char>(header.size() >> 8);
    file += header;
    if (count > 0) file.append(static_cast<const char*>(values), count * element);
    write_file(path, file);
}

std::string read_npy(const std::filesystem::path& path, std::size_t element, const std::string& type,
                     std::vector<std::size_t>& shape) {
    const auto fail = [&path](const std::string& why) { return FileError(path, 0, why); };
    std::string file = read_file(path);
    if (file.size() < magic.size() + 2 || file.compare(0, 6, magic.substr(0, 6)) != 0) {
        throw fail("not an .npy file: it does not begin with \\x93NUMPY");
    }
    if (file.compare(0, magic.size(), magic) != 0) throw fail("only version 1.0 of the .npy format is read");
    const std::size_t length =
        static_cast<unsigned char>(file[8]) + 256u * static_cast<unsigned char>(file[9]);
    const std::size_t begin = magic.size() + 2 + length;
    if (file.size() < begin) throw fail("the .npy header is cut short");
    const std::string_view header = std::string_view(file).substr(magic.size() + 2, length);

    const std::string_view descr = after_key(header, "descr");
    if (descr.substr(0, type.size() + 2) != "'" + type + "'") {
        throw fail("its elements are " + std::string(descr.substr(0, descr.find(','))) + ", expected '" +
                   type + "'");
    }
    if (after_key(header, "fortran_order").substr(0, 5) != "False") {
        throw fail("its elements are stored column by column, or the header does not say");
    }
    std::string_view dimensions = after_key(header, "shape");
    if (dimensions.empty() || dimensions.front() != '(' || dimensions.find(')') == std::string_view::npos) {
        throw fail("the .npy header has no shape");
    }
    dimensions = dimensions.substr(1, dimensions.find(')') - 1);
    std::size_t count = 1;
    shape.clear();
    while (true) {
        const std::size_t digit = dimensions.find_first_not_of(", ");
        if (digit == std::string_view::npos) break;
        dimensions.remove_prefix(digit);
        std::size_t extent = 0;
        const auto [end, error] =
            std::from_chars(dimensions.data(), dimensions.data() + dimensions.size(), extent);
        if (error != std::errc()) throw fail("the shape in the .npy header is not a list of numbers");
        if (extent != 0 && count > std::numeric_limits<std::size_t>::max() / element / extent) {
            throw fail("the shape in the .npy header is larger than memory");
        }
        dimensions.remove_prefix(static_cast<std::size_t>(end - dimensions.data()));
        shape.push_back(extent);
        count *= extent;
    }
    if (file.size() - begin != count * element) {
        throw fail("it holds " + std::to_string(file.size() - begin) +
                   " bytes of elements, its header promises " + std::to_string(count * element));
    }
    file.erase(0, begin);
    return file;
}

}  // namespace rungs::detail
