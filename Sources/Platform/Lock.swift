internal import Glibc

/// A value and the mutex that guards it.
///
/// The same interface as `Synchronization.Mutex`, over a pthread mutex, because
/// ThreadSanitizer cannot see the former.
package struct Lock<Value: ~Copyable>: ~Copyable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let value: UnsafeMutablePointer<Value>

  package init(_ initial: consuming Value) {
    mutex = .allocate(capacity: 1)
    value = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    value.initialize(to: initial)
  }

  deinit {
    value.deinitialize(count: 1)
    value.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs `body` with exclusive access to the value. Not recursive.
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value.pointee)
  }
}

// SAFETY: the value is reached only with the mutex held, and never leaves `withLock`.
extension Lock: @unchecked Sendable where Value: ~Copyable {}
