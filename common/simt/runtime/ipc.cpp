// Handles of memory and events for other processes: refused.
#include "runtime/report.h"
#include "runtime/stream_state.h"
#include "simt/attributes.h"

using namespace simt;

static cudaError_t refuse(const char* function) {
    if (const cudaError_t error = enter()) return fail(error);
    return report_unsupported(function,
                              "the virtual device belongs to this process, and no other sees its memory or "
                              "events. Use host threads of one process, or copy through the host");
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) { return refuse("cudaIpcGetMemHandle"); }
cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned int) {
    return refuse("cudaIpcOpenMemHandle");
}
cudaError_t cudaIpcCloseMemHandle(void*) { return refuse("cudaIpcCloseMemHandle"); }
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
    return refuse("cudaIpcGetEventHandle");
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
    return refuse("cudaIpcOpenEventHandle");
}
