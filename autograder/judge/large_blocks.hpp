#pragma once

namespace rungs::judge {

/// Large arrays are kept from here on, in a fork of the judge that judges itself as well: arrays of its own,
/// for its parent's it does not have. To be called before there is a second thread.
void keep_own_large_blocks();

}  // namespace rungs::judge
