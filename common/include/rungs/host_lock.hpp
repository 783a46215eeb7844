#pragma once
// A lock between host threads for headers that rungs include: <mutex> takes a compiler longer
// than a kernel does.

#include <pthread.h>

namespace rungs::detail {

/// Needs no destructor: what it guards lives as long as the process.
struct HostMutex {
    pthread_mutex_t handle = PTHREAD_MUTEX_INITIALIZER;
};

/// Holds a mutex to the end of the block.
class HostLock {
  public:
    explicit HostLock(HostMutex& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_.handle); }
    ~HostLock() { pthread_mutex_unlock(&mutex_.handle); }
    HostLock(const HostLock&) = delete;
    HostLock& operator=(const HostLock&) = delete;

  private:
    HostMutex& mutex_;
};

}  // namespace rungs::detail
