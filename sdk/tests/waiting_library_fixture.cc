// A library without the SDK, which waits.
#include <unistd.h>

/// Sleeps for so many microseconds, below so many calls.
extern "C" __attribute__((noinline)) int WaitBelow(int calls, unsigned microseconds) {
  if (calls == 0) return usleep(microseconds);
  return WaitBelow(calls - 1, microseconds) + 1;
}
