#include <dlfcn.h>

#include <cstdio>

#include "crema/crema.h"

int main(int count, char** paths) {
  for (int i = 1; i < count; ++i) {
    void* const plugin = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    const auto run = reinterpret_cast<void (*)()>(dlsym(plugin, "run"));
    crema::TrackMetrics chunk({"ttbar", "events.root", 0, 1000});
    crema::TrackSection select("select");
    run();
    chunk.SetEvents(1000);
  }
}
