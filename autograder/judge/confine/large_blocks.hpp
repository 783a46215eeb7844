#pragma once

namespace rungs::judge {

/// From here on this process keeps large arrays for reuse, even if it is a fork of the judge: a fork needs a
/// region of its own, because it does not inherit its parent's. To be called before there is a second thread.
void keep_own_large_blocks();

}  // namespace rungs::judge
