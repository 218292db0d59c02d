// A program of C: it has no C++ runtime, and its plug-ins see only their own.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    void* plugin = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
    void (*run)(void) = plugin == NULL ? NULL : (void (*)(void))dlsym(plugin, "run_plugin");
    if (run == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    run();
  }
  return 0;
}
