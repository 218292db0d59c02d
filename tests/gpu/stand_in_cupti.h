// A GPU that is none: the functions of a driver and of CUPTI, whose kernels take the times that the caller says.
// As `libcupti.so.13` it is what libcrema_gpu.so loads. Its behaviour comes from the environment:
//   STAND_IN_ORDER    calls_last: records of kernels come before those of their calls; shuffled: in any order
//   STAND_IN_DROPPED  so many records were lost in each buffer
//   STAND_IN_ERROR    the name of a function that fails
//   STAND_IN_SUBSCRIBED  somebody is subscribed to CUPTI's callbacks
//   STAND_IN_UNKNOWN  1: records of an unknown kind are among the others
//   STAND_IN_CLOCK_THREAD  1: the clock is read on another thread than the one that calls
#pragma once

#include <cstdint>

extern "C" {
/// As cuInit: loads the library that CUDA_INJECTION64_PATH names.
void stand_in_init();
/// Each thread has a stream of its own, on device 0.
void stand_in_launch(const char* name, std::uint64_t nanoseconds);
/// A graph of `kernels` kernels: one call.
void stand_in_graph(const char* name, int kernels, std::uint64_t nanoseconds);
/// `kind` as CUPTI has it: 1 to the device, 2 from it, 8 inside it.
void stand_in_copy(int kind, std::uint64_t bytes, std::uint64_t nanoseconds);
/// From one device to another.
void stand_in_copy_peer(std::uint64_t bytes, std::uint64_t nanoseconds);
void stand_in_fill(std::uint64_t bytes, std::uint64_t nanoseconds);
/// Waits for the stream: spins, or sleeps.
void stand_in_synchronize(bool spins);
/// Buffers that one user asked for and another one was given.
std::uint64_t stand_in_mixed_buffers();
}
