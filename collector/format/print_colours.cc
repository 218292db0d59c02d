// Prints the variables with which style sheets of pages begin.
#include <cstdio>

#include "collector/format/colours.h"

int main() { return std::fputs(crema::ColourVariables().c_str(), stdout) < 0 ? 1 : 0; }
