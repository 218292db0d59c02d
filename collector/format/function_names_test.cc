#include <string>
#include <utility>
#include <vector>

#include "collector/format/worker_names.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

TEST(ShortFunctionName, HasNeitherParametersNorWhatTemplatesAreGiven) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"zjets::(anonymous namespace)::Fit(double)", "zjets::Fit"},
      {"fastjet::ClusterSequence::_add_step_to_history(int, int, int, double)",
       "fastjet::ClusterSequence::_add_step_to_history"},
      {"void std::vector<int, std::allocator<int> >::_M_realloc_insert<int const&>(int const&)",
       "std::vector<…>::_M_realloc_insert<…>"},
      {"Histogram::Fill(double, double) const", "Histogram::Fill"},
      {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda#1}::operator()"},
      {"std::ostream& std::operator<< <char>(std::ostream&, char)", "std::operator<< <…>"},
      {"bool operator<(Jet const&, Jet const&)", "operator<"},
      {"Jet::operator double() const", "Jet::operator double"},
      {"run(int)::once", "run::once"},
      {"ROOT::RVecN<int, 12u> ROOT::operator&&<int, int>(ROOT::RVec<int> const&)", "ROOT::operator&&<…>"},
      {"int& RVec<int>::operator[]<int, 12u, std::enable_if<true, void> >(int)", "RVec<…>::operator[]<…>"},
      {"decltype(auto) std::apply<F, std::tuple<int> >(F&&, std::tuple<int>&&)", "std::apply<…>"},
      {"Fill(int) [clone .isra.0]", "Fill"},
      {"_impl.<locals>.action", "_impl.<locals>.action"},
      {"cos", "cos"},
      {"Processor.process", "Processor.process"},
      {"<lambda>", "<lambda>"},
      {"(generated code)", "(generated code)"},
      {"libm.so.6+0x1f20", "libm.so.6+0x1f20"},
      {"f(int", "f(int"},
      {"vector<int", "vector<int"},
      {"", ""},
  };
  for (const auto& [name, expected] : names) EXPECT_EQ(ShortFunctionName(name), expected) << name;
}

}  // namespace
}  // namespace crema
