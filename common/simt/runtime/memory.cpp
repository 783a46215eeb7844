#include "runtime/memory.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "runtime/heap.h"
#include "runtime/observe.h"
#include "runtime/stream_state.h"
#include "simt/stream.h"
#include "simt/virtual_device.h"

#undef cudaMalloc
#undef cudaMallocManaged

namespace simt {
namespace {

struct Pinned {
    std::size_t size;
    unsigned flags;
    bool registered;  // cudaHostRegister(): the memory itself is the program's
};

struct SymbolInfo {
    std::size_t size;
    const char* name;
    SymbolKind kind;
    bool addressed = false;  ///< cudaGetSymbolAddress has told where it is on the device
};

// What the runtime knows of memory outside the heap. Never destroyed: symbols unregister at
// the program's end.
struct Known {
    std::shared_mutex mutex;
    std::map<std::uintptr_t, Pinned> pinned;
    std::map<std::uintptr_t, SymbolInfo> symbols;
    std::set<std::uintptr_t> of_lanes;  ///< cudaMalloc() in a kernel
};

Known& known() {
    static Known* instance = new Known;
    return *instance;
}

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

// The entry of an address-ordered map whose range [begin, begin + size] holds `address`, or end().
template <class Map>
auto holder(Map& map, std::uintptr_t address) {
    auto it = map.upper_bound(address);
    if (it == map.begin()) return map.end();
    --it;
    return address <= it->first + it->second.size ? it : map.end();
}

// "(void**)&d_x, n * sizeof(float)" -> "d_x": the first argument without casts and address-of.
std::string first_argument(std::string_view text) {
    int depth = 0;
    std::size_t end = 0;
    for (; end < text.size(); ++end) {
        const char c = text[end];
        if (c == '(' || c == '[' || c == '{') ++depth;
        if (c == ')' || c == ']' || c == '}') --depth;
        if (c == ',' && depth == 0) break;
    }
    text = text.substr(0, end);
    const auto trim = [&text] {
        while (!text.empty() && (text.front() == ' ' || text.front() == '&')) text.remove_prefix(1);
        while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    };
    for (trim();; trim()) {
        const std::size_t close = text.find(')');
        if (text.substr(0, 1) == "(" && close != text.npos && close + 1 < text.size() &&
            text.substr(0, close).find('*') != text.npos) {
            text.remove_prefix(close + 1);  // a C cast to a pointer
        } else if (const std::size_t open = text.find(">(");
                   open != text.npos && text.back() == ')' && text.find("_cast<") < open) {
            text = text.substr(open + 2, text.size() - open - 3);  // reinterpret_cast<void**>(...)
        } else if (text.size() > 2 && text.front() == '(' && text.back() == ')') {
            text = text.substr(1, text.size() - 2);
        } else {
            return std::string(text);
        }
    }
}

// What check mode says of a call that fails. Run mode has no use for it.
template <class Words>
cudaError_t fail_as(cudaError_t error, Words words) {
    if constexpr (observe::on) observe::call_fails(words());
    return fail(error);
}

cudaError_t allocate(void** pointer, std::size_t size, Location::Kind kind) {
    if (!pointer) return cudaErrorInvalidValue;
    if (size == 0) {
        *pointer = nullptr;
        return cudaSuccess;
    }
    void* memory = heap().allocate(size, kind);
    if (!memory) {
        if constexpr (observe::on)
            observe::call_fails("of " + std::to_string(heap().capacity()) + " bytes " +
                                std::to_string(heap().capacity() - heap().used()) +
                                " are free, and it wants " + std::to_string(size) +
                                " (RUNGS_SIMT_MEMORY sets how many there are)");
        return cudaErrorMemoryAllocation;
    }
    *pointer = memory;
    return cudaSuccess;
}

bool reads_device(cudaMemcpyKind kind) {
    return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
}
bool writes_device(cudaMemcpyKind kind) {
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
}

// One side of a copy. Where `kind` says "device", ordinary host memory is refused; where it says "host", a
// device takes any address (measured on an H200), and so does this.
bool side_is_right(const void* address, std::size_t size, bool device_side, bool any) {
    if (!address) return false;
    switch (classify(address, size)) {
        case Space::invalid:
            return false;
        case Space::host:
            return any || !device_side;
        case Space::device:
        case Space::pinned:
        case Space::managed:
        case Space::promised:
            return true;  // both sides reach it
    }
    return false;
}

const char* kind_of_copy(cudaMemcpyKind kind) {
    static constexpr const char* names[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice",
                                            "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice",
                                            "cudaMemcpyDefault"};
    return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault ? names[kind] : "none of the five";
}

// "array `d`", as the program calls it.
std::string name_of(const Location& location) {
    return location.name[0] ? std::string("`") + location.name + "`" : "the array";
}

const char* words_of(Space space) {
    switch (space) {
        case Space::host:
            return "memory of the host";
        case Space::pinned:
            return "pinned memory of the host";
        case Space::managed:
            return "managed memory";
        default:
            return "device memory";
    }
}

// What is wrong with [address, address + size), whatever it is for; "" if nothing is.
std::string flaw_of_range(const void* address, std::size_t size, const std::string& side) {
    if (!address) return side + " is a null pointer";
    if (classify(address, size) != Space::invalid) return "";
    Location location{};
    if (!locate(address, &location)) return side + " is no address of an array";
    if (location.kind == Location::Kind::freed) return side + ", " + name_of(location) + ", has been freed";
    const auto offset = static_cast<std::size_t>(location.offset);
    if (location.offset < 0 || offset > location.size)
        return side + " is beside " + name_of(location) + ", which has " + std::to_string(location.size) +
               " bytes";
    return std::to_string(size) + " bytes are more than " + side + " has: " + name_of(location) + " has " +
           std::to_string(location.size) + " bytes" +
           (offset ? ", " + std::to_string(location.size - offset) + " of them from there on" : "");
}

// Why a copy between two ranges is refused.
std::string flaw_of_copy(const void* destination, std::size_t to, const void* source, std::size_t from,
                         cudaMemcpyKind kind) {
    for (const std::string& flaw :
         {flaw_of_range(destination, to, "the destination"), flaw_of_range(source, from, "the source")})
        if (!flaw.empty()) return flaw;
    return std::string("its direction is ") + kind_of_copy(kind) + ", but the destination is " +
           words_of(classify(destination, to)) + ", and the source is " + words_of(classify(source, from));
}

}  // namespace

Space classify(const void* address, std::size_t size) {
    const std::uintptr_t a = number(address);
    if (heap().contains(address)) {
        Heap::Found found;
        if (!heap().find(address, &found) || size > found.begin + found.size - a) return Space::invalid;
        if (!found.live) return Space::promised;
        return found.kind == Location::Kind::managed  ? Space::managed
               : found.kind == Location::Kind::pinned ? Space::pinned
                                                      : Space::device;
    }
    Known& k = known();
    std::shared_lock lock(k.mutex);
    if (auto it = holder(k.symbols, a);
        it != k.symbols.end() && (a < it->first + it->second.size || size == 0)) {
        if (size > it->first + it->second.size - a) return Space::invalid;
        return it->second.kind == SymbolKind::managed ? Space::managed : Space::device;
    }
    if (auto it = holder(k.pinned, a); it != k.pinned.end() && a < it->first + it->second.size)
        return size > it->first + it->second.size - a ? Space::invalid : Space::pinned;
    return Space::host;
}

bool is_device_accessible(const void* address, std::size_t size) {
    const Space space = classify(address, size);
    return space != Space::host && space != Space::invalid;
}

cudaError_t check_present(const void* address, const void* other) {
    for (const void* one : {address, other})
        if (classify(one, 0) == Space::promised) return cudaErrorInvalidValue;
    return cudaSuccess;
}

bool side_agrees(const void* address, std::size_t size, cudaMemcpyKind kind, bool is_destination) {
    return side_is_right(address, size, is_destination ? writes_device(kind) : reads_device(kind),
                         kind == cudaMemcpyDefault);
}

void explain_side(const void* address, std::size_t size, cudaMemcpyKind kind, bool is_destination) {
    if constexpr (observe::on) {
        const std::string side = is_destination ? "the destination" : "the source";
        const std::string flaw = flaw_of_range(address, size, side);
        observe::call_fails(!flaw.empty() ? flaw
                                          : std::string("its direction is ") + kind_of_copy(kind) + ", but " +
                                                side + " is " + words_of(classify(address, size)));
    }
}

cudaError_t check_copy(const void* destination, const void* source, std::size_t count, cudaMemcpyKind kind) {
    if (count == 0) return cudaSuccess;
    return check_copy(destination, count, source, count, kind);
}

cudaError_t check_copy(const void* destination, std::size_t to, const void* source, std::size_t from,
                       cudaMemcpyKind kind) {
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (side_agrees(destination, to, kind, true) && side_agrees(source, from, kind, false))
        return cudaSuccess;
    if constexpr (observe::on) observe::call_fails(flaw_of_copy(destination, to, source, from, kind));
    return cudaErrorInvalidValue;
}

void* allocate_device(std::size_t size, Location::Kind kind) { return heap().allocate(size, kind); }
bool release_device(void* pointer) { return heap().release(pointer); }
std::size_t device_memory_used() { return heap().used(); }
std::size_t device_memory_high(bool reset) { return heap().high(reset); }
int check_red_zones() { return heap().check_all(); }

void reset_memory() {
    heap().reset();
    Known& k = known();
    std::unique_lock lock(k.mutex);
    for (auto& [address, pinned] : k.pinned)
        if (!pinned.registered && !heap().contains(reinterpret_cast<void*>(address)))
            std::free(reinterpret_cast<void*>(address));
    k.pinned.clear();
}

void name_allocation(const void* pointer, const char* arguments) {
    if (pointer) heap().name(pointer, first_argument(arguments).c_str());
}

bool locate(const void* address, Location* location) {
    if (heap().contains(address)) return heap().locate(address, location);
    Known& k = known();
    std::shared_lock lock(k.mutex, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    const auto fill = [&](std::uintptr_t begin, std::size_t size, const char* name, Location::Kind kind) {
        std::strncpy(location->name, name, sizeof location->name - 1);
        location->name[sizeof location->name - 1] = '\0';

        location->begin = reinterpret_cast<const void*>(begin);
        location->size = size;
        location->offset = static_cast<long>(number(address) - begin);
        location->kind = kind;
        return true;
    };
    if (auto it = holder(k.symbols, number(address)); it != k.symbols.end())
        return fill(it->first, it->second.size, it->second.name, Location::Kind::symbol);
    if (auto it = holder(k.pinned, number(address)); it != k.pinned.end())
        return fill(it->first, it->second.size, "", Location::Kind::pinned);
    return false;
}

Symbol::Symbol(const volatile void* address, std::size_t size, const char* name, SymbolKind kind)
    : address_(const_cast<const void*>(address)) {
    std::unique_lock lock(known().mutex);
    known().symbols[number(address_)] = {size, name, kind, false};
    observe::symbol_added(address_, size, name, kind);
    observe::red_zone(this, sizeof *this);
}

void register_static(StaticKey& key, const void* address, std::size_t size, const char* name,
                     SymbolKind kind) {
    const observe::Unobserved own;
    std::unique_lock lock(known().mutex);
    if (key.known) return;
    // Only device code knows where it is: whoever has the address has it from there.
    known().symbols[number(address)] = {size, name, kind, true};
    observe::symbol_added(address, size, name, kind);
    __atomic_store_n(&key.known, true, __ATOMIC_RELEASE);
}

RedZone::RedZone(const char (&zone)[64]) { observe::red_zone(zone, sizeof zone); }

Symbol::~Symbol() {
    std::unique_lock lock(known().mutex);
    known().symbols.erase(number(address_));
    observe::symbol_removed(address_);
}

// Size of the symbol that starts at `address`; 0 if there is none.
static std::size_t symbol_size(const void* address) {
    std::shared_lock lock(known().mutex);
    auto it = known().symbols.find(number(address));
    return it == known().symbols.end() ? 0 : it->second.size;
}

// Is this a variable of the device by its name? Here that is where it is; on a GPU it is the place on the
// host that stands for it, and no copy reaches the variable through it.
static bool is_bare_symbol(const void* address) {
    std::shared_lock lock(known().mutex);
    const auto it = holder(known().symbols, number(address));
    return it != known().symbols.end() && number(address) < it->first + it->second.size &&
           it->second.kind != SymbolKind::managed && !it->second.addressed;
}

// "the device variable `table`"
static std::string symbol_text(const void* address) {
    std::shared_lock lock(known().mutex);
    const auto it = holder(known().symbols, number(address));
    return it == known().symbols.end() ? "a device variable"
                                       : std::string("the device variable `") + it->second.name + "`";
}

// What `symbol` is, if it is none: a name in quotes, most likely.
static cudaError_t no_symbol(const void* symbol) {
    return fail_as(cudaErrorInvalidSymbol, [symbol]() -> std::string {
        std::shared_lock lock(known().mutex);
        // (Of an array that has been freed nothing can be read.)
        const bool legible = symbol && !heap().contains(symbol);
        for (const auto& [address, info] : known().symbols)
            if (legible &&
                std::strncmp(static_cast<const char*>(symbol), info.name, std::strlen(info.name) + 1) == 0)
                return std::string(
                           "it is given a text, and names in quotes went away with CUDA 5: write the "
                           "variable itself, ") +
                       info.name;
        return "it is given no __device__, __constant__ or __managed__ variable. (Names in quotes went away "
               "with CUDA 5: write the variable itself.)";
    });
}

}  // namespace simt

using namespace simt;

// ---- Allocation
// --------------------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** pointer, size_t size) {
    if (const cudaError_t error = enter_unsafe()) return fail(error);
    const observe::Unobserved red_zones;
    const cudaError_t error = allocate(pointer, size, Location::Kind::device);
    if (execution.in_lane && error == cudaSuccess) {
        std::unique_lock lock(known().mutex);
        known().of_lanes.insert(number(*pointer));
    }
    return fail(error);
}

cudaError_t cudaFree(void* pointer) {
    if (execution.in_lane) {
        // Most likely the destructor of a kernel's parameter, which a device never runs.
        std::unique_lock lock(known().mutex);
        if (known().of_lanes.erase(number(pointer)) == 0) return cudaErrorInvalidValue;
    }
    if (const cudaError_t error = enter_unsafe()) return fail(error);
    if (!pointer) return cudaSuccess;
    const observe::Unobserved red_zones;
    observe::host_waits_for_all();  // as cudaFree does
    // In check mode pinned memory and what kernels allocate is in the heap, too.
    Heap::Found found{};
    const bool another = heap().find(pointer, &found) && found.kind == Location::Kind::pinned;
    if (!another && !observe::is_of_kernel(pointer) && heap().release(pointer)) return cudaSuccess;
    observe::release_failed(pointer, "cudaFree");
    return fail(cudaErrorInvalidValue);
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
    if (const cudaError_t error = enter_unsafe()) return fail(error);
    if (!pointer || !pitch) return fail(cudaErrorInvalidValue);
    constexpr size_t granularity = VirtualDevice::pitch_granularity;
    if (width > VirtualDevice::max_pitch) return fail(cudaErrorInvalidValue);
    if (width == 0 || height == 0) {
        *pointer = nullptr;
        *pitch = 0;
        return cudaSuccess;
    }
    const size_t row = (width + granularity - 1) / granularity * granularity;
    if (row > SIZE_MAX / height) return fail(cudaErrorMemoryAllocation);
    const cudaError_t error = allocate(pointer, row * height, Location::Kind::device);
    if (error == cudaSuccess) *pitch = row;
    return fail(error);
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
    if (!pointer) return fail(cudaErrorInvalidValue);
    if (extent.depth != 0 && extent.height > SIZE_MAX / extent.depth) return fail(cudaErrorMemoryAllocation);
    void* memory = nullptr;
    size_t pitch = 0;
    const cudaError_t error = cudaMallocPitch(&memory, &pitch, extent.width, extent.height * extent.depth);
    if (error == cudaSuccess) *pointer = make_cudaPitchedPtr(memory, pitch, extent.width, extent.height);
    return error;
}

cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned int flags) {
    if (const cudaError_t error = enter_unsafe()) return fail(error);
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return fail(cudaErrorInvalidValue);
    return fail(allocate(pointer, size, Location::Kind::managed));
}

cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned int flags) {
    if (const cudaError_t error = enter_unsafe()) return fail(error);
    constexpr unsigned all = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (!pointer || (flags & ~all)) return fail(cudaErrorInvalidValue);
    if (size == 0) {
        *pointer = nullptr;
        return cudaSuccess;
    }
    constexpr size_t page = 4096;
    if (size > SIZE_MAX - page) return fail(cudaErrorMemoryAllocation);
    // The checks know every array of the heap.
    void* memory = observe::on ? heap().allocate(size, Location::Kind::pinned)
                               : std::aligned_alloc(page, (size + page - 1) / page * page);
    if (!memory) return fail(cudaErrorMemoryAllocation);
    std::unique_lock lock(known().mutex);
    known().pinned[number(memory)] = {size, flags, false};
    *pointer = memory;
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void** pointer, size_t size) {
    return cudaHostAlloc(pointer, size, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void* pointer) {
    if (const cudaError_t error = enter_unsafe()) return fail(error);
    if (!pointer) return cudaSuccess;
    std::unique_lock lock(known().mutex);
    auto it = known().pinned.find(number(pointer));
    if (it == known().pinned.end() || it->second.registered) {
        lock.unlock();
        observe::release_failed(pointer, "cudaFreeHost");
        return fail(cudaErrorInvalidValue);
    }
    known().pinned.erase(it);
    lock.unlock();
    observe::host_waits_for_all();
    if (!heap().release(pointer)) std::free(pointer);
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned int flags) {
    if (const cudaError_t error = enter_unsafe()) return fail(error);
    constexpr unsigned all = cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory |
                             cudaHostRegisterReadOnly;
    if (!pointer || size == 0 || (flags & ~all)) return fail(cudaErrorInvalidValue);
    if (heap().contains(pointer)) return fail(cudaErrorInvalidValue);
    std::unique_lock lock(known().mutex);
    auto& pinned = known().pinned;
    const auto begin = number(pointer);
    // The last range that starts below our end must also end below our beginning.
    auto next = pinned.lower_bound(begin + size);
    if (next != pinned.begin()) {
        --next;
        if (next->first + next->second.size > begin) return fail(cudaErrorHostMemoryAlreadyRegistered);
    }
    pinned[begin] = {size, flags, true};
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* pointer) {
    if (const cudaError_t error = enter_unsafe()) return fail(error);
    if (!pointer) return fail(cudaErrorInvalidValue);
    std::unique_lock lock(known().mutex);
    auto it = known().pinned.find(number(pointer));
    if (it == known().pinned.end()) return fail(cudaErrorHostMemoryNotRegistered);
    if (!it->second.registered) return fail(cudaErrorInvalidValue);
    known().pinned.erase(it);
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!device || !host || flags != 0) return fail(cudaErrorInvalidValue);
    if (classify(host, 1) != Space::pinned) return fail(cudaErrorInvalidValue);
    *device = host;
    return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!flags || !host) return fail(cudaErrorInvalidValue);
    std::shared_lock lock(known().mutex);
    auto it = holder(known().pinned, number(host));
    if (it == known().pinned.end()) return fail(cudaErrorInvalidValue);
    *flags = it->second.flags | cudaHostAllocMapped;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    if (const cudaError_t error = enter()) return fail(error);
    const size_t capacity = heap().capacity();
    if (total) *total = capacity;
    if (free) *free = capacity - heap().used();
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!attributes) return fail(cudaErrorInvalidValue);
    void* address = const_cast<void*>(pointer);
    *attributes = {};
    switch (classify(pointer, 1)) {
        case Space::device:
            attributes->type = cudaMemoryTypeDevice;
            attributes->devicePointer = address;
            break;
        case Space::managed:
            attributes->type = cudaMemoryTypeManaged;
            attributes->devicePointer = attributes->hostPointer = address;
            break;
        case Space::pinned:
            attributes->type = cudaMemoryTypeHost;
            attributes->devicePointer = attributes->hostPointer = address;
            break;
        default:
            attributes->type = cudaMemoryTypeUnregistered;
            attributes->device = cudaInvalidDeviceId;
            attributes->hostPointer = address;
    }
    return cudaSuccess;
}

// ---- Managed memory: hints
// ---------------------------------------------------------------------------------------

static cudaError_t check_managed(const void* pointer, size_t count) {
    if (count == 0 || classify(pointer, count) != Space::managed) return cudaErrorInvalidValue;
    return cudaSuccess;
}

static bool right_location(cudaMemLocation location) {
    switch (location.type) {
        case cudaMemLocationTypeDevice:
            return location.id == 0;
        case cudaMemLocationTypeHost:
        case cudaMemLocationTypeHostNuma:
        case cudaMemLocationTypeHostNumaCurrent:
            return true;
        default:
            return false;
    }
}

cudaError_t cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
    if (const cudaError_t error = enter()) return fail(error);
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
        return fail(cudaErrorInvalidValue);
    const bool needs_location = advice != cudaMemAdviseSetReadMostly &&
                                advice != cudaMemAdviseUnsetReadMostly &&
                                advice != cudaMemAdviseUnsetPreferredLocation;
    if (needs_location && !right_location(location)) return fail(cudaErrorInvalidDevice);
    return fail(check_managed(pointer, count));
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream) {
    if (const cudaError_t error = enter()) return fail(error);
    if (flags != 0) return fail(cudaErrorInvalidValue);
    if (!right_location(location)) return fail(cudaErrorInvalidDevice);
    if (const cudaError_t error = check_managed(pointer, count)) return fail(error);
    return fail(
        enqueue(stream, {Operation::Kind::empty, "cudaMemPrefetchAsync", [] { return cudaSuccess; }}));
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_size, cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t count) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!data || data_size != sizeof(int)) return fail(cudaErrorInvalidValue);
    if (const cudaError_t error = check_managed(pointer, count)) return fail(error);
    // Advice has no effect here, so what CUDA would report is what it reports before any was given.
    switch (attribute) {
        case cudaMemRangeAttributeReadMostly:
            *static_cast<int*>(data) = 0;
            return cudaSuccess;
        case cudaMemRangeAttributePreferredLocation:
        case cudaMemRangeAttributeLastPrefetchLocation:
        case cudaMemRangeAttributeAccessedBy:
            *static_cast<int*>(data) = cudaInvalidDeviceId;
            return cudaSuccess;
        default:
            return fail(cudaErrorNotSupported);
    }
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t length, unsigned int flags) {
    if (const cudaError_t error = enter()) return fail(error);
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
        return fail(cudaErrorInvalidValue);
    if (const cudaError_t error = check_managed(pointer, length ? length : 1)) return fail(error);
    return fail(
        enqueue(stream, {Operation::Kind::empty, "cudaStreamAttachMemAsync", [] { return cudaSuccess; }}));
}

// ---- Copies and fills
// --------------------------------------------------------------------------------------------

/// What has to be told to the checks once a copy is enqueued: the host has waited for it, if it was no
/// asynchronous one, or if ordinary memory receives it. Between two places of a device nobody waits.
static cudaError_t note_copy(cudaError_t error, const void* destination, const void* source, size_t count,
                             cudaStream_t handle, bool asynchronous) {
    if constexpr (observe::on) {
        cudaStream_t stream = resolve(handle);
        const Space to = classify(destination, count), from = classify(source, count);
        const bool on_device = to == Space::device && from == Space::device;
        if (stream && !stream->capture && !on_device && (!asynchronous || to == Space::host))
            note_wait(stream);
    }
    return error;
}

static cudaError_t copy(void* destination, const void* source, size_t count, cudaMemcpyKind kind,
                        cudaStream_t stream, const char* name, bool asynchronous) {
    if (const cudaError_t error = enter()) return fail(error);
    if (const cudaError_t error = check_copy(destination, source, count, kind)) return fail(error);
    const cudaError_t error =
        enqueue(stream, {Operation::Kind::memcpy, name, [=] {
                             if (count == 0) return cudaSuccess;
                             if (const cudaError_t absent = check_present(destination, source)) return absent;
                             std::memmove(destination, source, count);
                             return cudaSuccess;
                         }});
    return fail(note_copy(error, destination, source, count, stream, asynchronous));
}

// A copy by addresses fails where one of them is a variable of the device by its name.
static cudaError_t refuse_symbols(const void* destination, const void* source, cudaMemcpyKind kind) {
    // (Called cudaMemcpyDefault, it would succeed on a GPU, and not reach the variable.)
    const bool any = kind == cudaMemcpyDefault;
    const bool to = (any || writes_device(kind)) && is_bare_symbol(destination);
    if (!to && !((any || reads_device(kind)) && is_bare_symbol(source))) return cudaSuccess;
    return fail_as(cudaErrorInvalidValue, [&] {
        return std::string(to ? "the destination" : "the source") + " is the name of " +
               symbol_text(to ? destination : source) +
               ", which on the host stands for memory of the host and not for the variable: use " +
               (to ? "cudaMemcpyToSymbol" : "cudaMemcpyFromSymbol") + ", or cudaGetSymbolAddress";
    });
}

// A copy that the program asks for by addresses.
static cudaError_t copy_by_address(void* destination, const void* source, size_t count, cudaMemcpyKind kind,
                                   cudaStream_t stream, const char* name, bool asynchronous) {
    if (count > 0) {
        if (const cudaError_t error = refuse_symbols(destination, source, kind)) return error;
    }
    const cudaError_t error = copy(destination, source, count, kind, stream, name, asynchronous);
    if constexpr (observe::on) {
        if (error != cudaSuccess || count == 0 || kind == cudaMemcpyDefault) return error;
        if (!writes_device(kind) && classify(destination, count) == Space::device)
            observe::copy_disagrees(destination, kind_of_copy(kind));
        if (!reads_device(kind) && classify(source, count) == Space::device)
            observe::copy_disagrees(source, kind_of_copy(kind));
    }
    return error;
}

cudaError_t cudaMemcpy(void* destination, const void* source, size_t count, cudaMemcpyKind kind) {
    return copy_by_address(destination, source, count, kind, nullptr, "cudaMemcpy", false);
}

cudaError_t cudaMemcpyAsync(void* destination, const void* source, size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return copy_by_address(destination, source, count, kind, stream, "cudaMemcpyAsync", true);
}

cudaError_t cudaMemcpyPeer(void* destination, int destination_device, const void* source, int source_device,
                           size_t count) {
    return cudaMemcpyPeerAsync(destination, destination_device, source, source_device, count, nullptr);
}

cudaError_t cudaMemcpyPeerAsync(void* destination, int destination_device, const void* source,
                                int source_device, size_t count, cudaStream_t stream) {
    if (destination_device != 0 || source_device != 0) return fail(cudaErrorInvalidDevice);
    return copy(destination, source, count, cudaMemcpyDeviceToDevice, stream, "cudaMemcpyPeer", true);
}

cudaError_t cudaMemcpy2D(void* destination, size_t destination_pitch, const void* source, size_t source_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
    const cudaError_t error =
        cudaMemcpy2DAsync(destination, destination_pitch, source, source_pitch, width, height, kind, nullptr);
    return note_copy(error, destination, source, 1, nullptr, false);
}

cudaError_t cudaMemcpy2DAsync(void* destination, size_t destination_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
    if (const cudaError_t error = enter()) return fail(error);
    if (width == 0 || height == 0) return cudaSuccess;
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return fail(cudaErrorInvalidMemcpyDirection);
    if (width > destination_pitch || width > source_pitch) return fail(cudaErrorInvalidPitchValue);
    if (destination_pitch > VirtualDevice::max_pitch || source_pitch > VirtualDevice::max_pitch)
        return fail(cudaErrorInvalidValue);
    if (const cudaError_t error = refuse_symbols(destination, source, kind)) return error;
    // The last row ends after `width` bytes, not after a pitch.
    if (const cudaError_t error = check_copy(destination, destination_pitch * (height - 1) + width, source,
                                             source_pitch * (height - 1) + width, kind))
        return fail(error);
    const cudaError_t error =
        enqueue(stream, {Operation::Kind::memcpy, "cudaMemcpy2D", [=] {
                             if (const cudaError_t absent = check_present(destination, source)) return absent;
                             auto* to = static_cast<char*>(destination);
                             auto* from = static_cast<const char*>(source);
                             for (size_t row = 0; row < height; ++row)
                                 std::memmove(to + row * destination_pitch, from + row * source_pitch, width);
                             return cudaSuccess;
                         }});
    return fail(note_copy(error, destination, source, 1, stream, true));
}

// The device fills what it reaches.
static cudaError_t check_fill(const void* pointer, size_t count) {
    const bool symbol = is_bare_symbol(pointer);
    if (!symbol && is_device_accessible(pointer, count)) return cudaSuccess;
    return fail_as(cudaErrorInvalidValue, [&]() -> std::string {
        if (symbol)
            return "it is given the name of " + symbol_text(pointer) +
                   ", which on the host stands for memory of the host: ask cudaGetSymbolAddress";
        const std::string flaw = flaw_of_range(pointer, count, "what it fills");
        return flaw.empty() ? "what it fills is memory of the host: memset does that" : flaw;
    });
}

cudaError_t cudaMemset(void* pointer, int value, size_t count) {
    return cudaMemsetAsync(pointer, value, count, nullptr);
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t count, cudaStream_t stream) {
    if (const cudaError_t error = enter()) return fail(error);
    if (count == 0) return cudaSuccess;
    if (const cudaError_t error = check_fill(pointer, count)) return error;
    return fail(enqueue(stream, {Operation::Kind::memset, "cudaMemset", [=] {
                                     if (const cudaError_t absent = check_present(pointer)) return absent;
                                     std::memset(pointer, value, count);
                                     return cudaSuccess;
                                 }}));
}

cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
    return cudaMemset2DAsync(pointer, pitch, value, width, height, nullptr);
}

cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    return cudaMemset3DAsync(make_cudaPitchedPtr(pointer, pitch, width, height), value,
                             make_cudaExtent(width, height, 1), stream);
}

cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
    return cudaMemset3DAsync(pointer, value, extent, nullptr);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent, cudaStream_t stream) {
    if (const cudaError_t error = enter()) return fail(error);
    const auto [width, height, depth] = extent;
    if (width == 0 || height == 0 || depth == 0) return cudaSuccess;
    const size_t rows = depth > 1 ? pointer.ysize * (depth - 1) + height : height;
    if ((rows > 1 && width > pointer.pitch) || (depth > 1 && height > pointer.ysize))
        return fail(cudaErrorInvalidValue);
    if (const cudaError_t error = check_fill(pointer.ptr, pointer.pitch * (rows - 1) + width)) return error;
    return fail(enqueue(
        stream, {Operation::Kind::memset, "cudaMemset2D", [=, w = width, h = height, d = depth] {
                     if (const cudaError_t absent = check_present(pointer.ptr)) return absent;
                     for (size_t z = 0; z < d; ++z)
                         for (size_t y = 0; y < h; ++y)
                             std::memset(
                                 static_cast<char*>(pointer.ptr) + (z * pointer.ysize + y) * pointer.pitch,
                                 value, w);
                     return cudaSuccess;
                 }}));
}

// ---- Symbols
// -----------------------------------------------------------------------------------------------------

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!address) return fail(cudaErrorInvalidValue);
    {
        std::unique_lock lock(known().mutex);
        const auto it = known().symbols.find(number(symbol));
        if (it == known().symbols.end()) {
            lock.unlock();
            return no_symbol(symbol);
        }
        it->second.addressed = true;
    }
    *address = const_cast<void*>(symbol);
    return cudaSuccess;
}

cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!size) return fail(cudaErrorInvalidValue);
    const size_t bytes = symbol_size(symbol);
    if (bytes == 0) return no_symbol(symbol);
    *size = bytes;
    return cudaSuccess;
}

// A copy between memory and [offset, offset + count) of a symbol; `to_symbol` gives the direction.
static cudaError_t copy_symbol(const void* memory, const void* symbol, size_t count, size_t offset,
                               cudaMemcpyKind kind, cudaStream_t stream, bool to_symbol, bool asynchronous) {
    if (const cudaError_t error = enter()) return fail(error);
    const size_t size = symbol_size(symbol);
    if (size == 0) return no_symbol(symbol);
    const bool right_kind = kind == cudaMemcpyDefault || kind == cudaMemcpyDeviceToDevice ||
                            kind == (to_symbol ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
    if (!right_kind)
        return fail_as(cudaErrorInvalidMemcpyDirection,
                       [kind] { return std::string("its direction is ") + kind_of_copy(kind); });
    if (offset > size || count > size - offset)
        return fail_as(cudaErrorInvalidValue, [&] {
            return std::to_string(count) + " bytes from byte " + std::to_string(offset) +
                   " on are more than " + symbol_text(symbol) + " has: " + std::to_string(size);
        });
    void* place = static_cast<char*>(const_cast<void*>(symbol)) + offset;
    return to_symbol ? copy(place, memory, count, kind, stream, "cudaMemcpyToSymbol", asynchronous)
                     : copy(const_cast<void*>(memory), place, count, kind, stream, "cudaMemcpyFromSymbol",
                            asynchronous);
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* source, size_t count, size_t offset,
                               cudaMemcpyKind kind) {
    return copy_symbol(source, symbol, count, offset, kind, nullptr, true, false);
}
cudaError_t cudaMemcpyFromSymbol(void* destination, const void* symbol, size_t count, size_t offset,
                                 cudaMemcpyKind kind) {
    return copy_symbol(destination, symbol, count, offset, kind, nullptr, false, false);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* source, size_t count, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_symbol(source, symbol, count, offset, kind, stream, true, true);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* destination, const void* symbol, size_t count, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_symbol(destination, symbol, count, offset, kind, stream, false, true);
}
