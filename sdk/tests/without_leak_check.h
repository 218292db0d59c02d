// Included by a test whose children cannot be searched for leaks: they have no descriptor left, or were forked by a
// thread, so that what the main thread's stack held counts as lost. The address sanitizer's other checks stay.
#ifndef CREMA_SDK_TESTS_WITHOUT_LEAK_CHECK_H_
#define CREMA_SDK_TESTS_WITHOUT_LEAK_CHECK_H_

#ifdef __SANITIZE_ADDRESS__
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

#endif  // CREMA_SDK_TESTS_WITHOUT_LEAK_CHECK_H_
