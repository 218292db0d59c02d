// What crema/root.h needs of ROOT and of the compiler, said before anything else fails.
#ifndef CREMA_ROOT_REQUIREMENTS_H_
#define CREMA_ROOT_REQUIREMENTS_H_

#if !__has_include(<RConfigure.h>) || !__has_include(<RVersion.h>)
#error "crema/root.h needs the headers of ROOT: add the output of `root-config --incdir` to the include path"
#endif

#include <RVersion.h>

#if ROOT_VERSION_CODE < ROOT_VERSION(6, 40, 0)
#error "crema/root.h needs ROOT 6.40 or newer"
#endif

// ROOT's libraries and the programs that use them share types of the standard library, which differ by standard.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcpp"
#include <RConfigure.h>
#pragma GCC diagnostic pop

#if defined(ROOT__cplusplus) && __cplusplus != ROOT__cplusplus
#error "crema/root.h: this ROOT was built for another C++ standard: compile with the -std= of `root-config --cflags`"
#endif

#endif  // CREMA_ROOT_REQUIREMENTS_H_
