// The addresses that the host has for device functions. A GPU's differ from them; here they would be the
// same.
#include <sys/mman.h>

#include <cstdint>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/observe.h"
#include "simt/symbol.h"

namespace simt {
namespace {

/// Addresses at which nothing is mapped. Never destroyed: static variables of the program may hold some.
struct HostFunctions {
    static constexpr std::size_t apart = 16, most = 4096;
    std::mutex mutex;
    std::uintptr_t begin = 0;
    std::unordered_map<const void*, std::uintptr_t> known;
    std::vector<std::string> names;
};
HostFunctions& host_functions() {
    static auto* instance = new HostFunctions;
    return *instance;
}

}  // namespace

const void* address_on_host(const void* function, const char* name) {
    HostFunctions& f = host_functions();
    std::lock_guard lock(f.mutex);
    if (f.begin == 0) {
        void* range =
            mmap(nullptr, f.apart * f.most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range == MAP_FAILED) throw std::bad_alloc();
        f.begin = reinterpret_cast<std::uintptr_t>(range);
    }
    const auto [found, fresh] = f.known.try_emplace(function, f.begin + f.names.size() * f.apart);
    if (fresh && f.names.size() == f.most) {
        f.known.erase(found);
        return function;
    }
    if (fresh) f.names.emplace_back(name);
    return reinterpret_cast<const void*>(found->second);
}

const char* observe::function_of_host(const void* address) {
    HostFunctions& f = host_functions();
    std::lock_guard lock(f.mutex);
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - f.begin;
    return f.begin == 0 || offset >= f.names.size() * f.apart ? nullptr : f.names[offset / f.apart].c_str();
}

}  // namespace simt
