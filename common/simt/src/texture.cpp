#include "stream_state.h"

namespace simt {
void reset_textures() {}
}  // namespace simt
