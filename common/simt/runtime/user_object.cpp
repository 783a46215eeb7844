// Things of the program's that live as long as somebody has a reference: a graph, or the program.
#include "runtime/graph_state.h"

struct CUuserObject_st {
    void* pointer;
    cudaHostFn_t destroy;
    unsigned references;
};

namespace simt {
namespace {

// Guarded by state_mutex().
std::unordered_set<cudaUserObject_t>& user_objects() {
    static auto* set = new std::unordered_set<cudaUserObject_t>;
    return *set;
}

cudaError_t release(cudaUserObject_t object, unsigned count) {
    if (count > object->references) return cudaErrorInvalidValue;
    object->references -= count;
    if (object->references > 0) return cudaSuccess;
    user_objects().erase(object);
    call_host(object->destroy, object->pointer);
    delete object;
    return cudaSuccess;
}

cudaError_t check_object(cudaUserObject_t object, unsigned count) {
    if (const cudaError_t error = enter()) return error;
    return count > 0 && user_objects().count(object) ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

void share_objects(cudaGraph_t graph) {
    for (const auto& [object, count] : graph->objects) object->references += count;
}

void give_objects_up(cudaGraph_t graph) {
    for (const auto& [object, count] : graph->objects) release(object, count);
}

}  // namespace simt

using namespace simt;

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* pointer, cudaHostFn_t destroy,
                                 unsigned int references, unsigned int flags) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!object || !destroy || references == 0 || flags != cudaUserObjectNoDestructorSync)
        return fail(cudaErrorInvalidValue);
    std::lock_guard lock(state_mutex());
    *object = new CUuserObject_st{pointer, destroy, references};
    user_objects().insert(*object);
    return cudaSuccess;
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count) {
    std::lock_guard lock(state_mutex());
    if (const cudaError_t error = check_object(object, count)) return fail(error);
    object->references += count;
    return cudaSuccess;
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count) {
    std::lock_guard lock(state_mutex());
    if (const cudaError_t error = check_object(object, count)) return fail(error);
    return fail(release(object, count));
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count,
                                      unsigned int flags) {
    std::lock_guard lock(state_mutex());
    if (const cudaError_t error = check_object(object, count)) return fail(error);
    if (!graphs().has(graph) || flags > cudaGraphUserObjectMove) return fail(cudaErrorInvalidValue);
    if (flags != cudaGraphUserObjectMove) object->references += count;
    graph->objects[object] += count;
    return cudaSuccess;
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count) {
    std::lock_guard lock(state_mutex());
    if (const cudaError_t error = check_object(object, count)) return fail(error);
    if (!graphs().has(graph)) return fail(cudaErrorInvalidValue);
    const auto found = graph->objects.find(object);
    if (found == graph->objects.end() || found->second < count) return fail(cudaErrorInvalidValue);
    if ((found->second -= count) == 0) graph->objects.erase(found);
    return fail(release(object, count));
}
