// The gates of a comparison for systems that read the results of tests.
#ifndef CREMA_COLLECTOR_WRITERS_JUNIT_GATES_H_
#define CREMA_COLLECTOR_WRITERS_JUNIT_GATES_H_

#include <string>
#include <vector>

#include "collector/insight/comparison_gate.h"

namespace crema {

/// One test suite `crema compare`, a test case for each gate, in the format of JUnit that continuous integration reads
/// (https://github.com/testmoapp/junitxml). Valid XML whatever runs and sections are called.
std::string GatesAsJunit(const std::vector<JudgedGate>& gates);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_JUNIT_GATES_H_
