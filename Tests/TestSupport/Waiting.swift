import Glibc
import Platform

/// Long enough for the bytes before and after to arrive apart.
package func usleepShortly() { usleep(500) }

/// Waits until `condition` holds; false when it does not for a minute.
package func eventually(_ condition: () -> Bool) -> Bool {
  let deadline = monotonicNanoseconds() + 60_000_000_000
  while monotonicNanoseconds() < deadline {
    if condition() { return true }
    usleep(2_000)
  }
  return condition()
}
