#include "examples/zjets/lhe_event.h"

#include <charconv>
#include <stdexcept>
#include <string>

#include "fmt/format.h"

namespace zjets {
namespace {

/// Takes numbers out of text that is separated by white space.
class NumberReader {
 public:
  explicit NumberReader(std::string_view text) : rest_(text) {}

  template <class Number>
  Number Next(const char* what) {
    const std::string_view token = NextToken();
    // std::from_chars takes no leading plus sign
    const char* first = token.data() + (!token.empty() && token.front() == '+' ? 1 : 0);
    const char* last = token.data() + token.size();
    Number value{};
    const auto [end, error] = std::from_chars(first, last, value);
    if (error != std::errc() || end != last) {
      throw std::runtime_error(fmt::format("expected {}, found '{}'", what, std::string(token)));
    }
    return value;
  }
  void Skip(int tokens) {
    for (int i = 0; i < tokens; ++i) NextToken();
  }
  void SkipLine() {
    const std::size_t end = rest_.find('\n');
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  }

 private:
  std::string_view NextToken() {
    constexpr const char* kSpace = " \t\r\n";
    const std::size_t first = rest_.find_first_not_of(kSpace);
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
    const std::string_view token = rest_.substr(0, rest_.find_first_of(kSpace));
    rest_.remove_prefix(token.size());
    return token;
  }

  std::string_view rest_;
};

constexpr int kMostParticles = 10000;  ///< beyond it the number is a misread, not an event

}  // namespace

LheEvent ParseLheEvent(std::string_view text) {
  NumberReader reader(text);
  reader.SkipLine();
  const int particles = reader.Next<int>("the number of particles");
  if (particles < 0 || particles > kMostParticles) {
    throw std::runtime_error(fmt::format("expected 0 to {} particles, found {}", kMostParticles, particles));
  }
  reader.Skip(1);  // IDPRUP
  LheEvent event;
  event.weight = reader.Next<double>("the event's weight");
  reader.Skip(3);  // SCALUP, AQEDUP, AQCDUP
  event.particles.resize(static_cast<std::size_t>(particles));
  for (Particle& particle : event.particles) {
    particle.pdg_id = reader.Next<int>("a particle's identity");
    particle.status = reader.Next<int>("a particle's status");
    reader.Skip(4);  // mothers, colour lines
    particle.px = reader.Next<double>("a momentum");
    particle.py = reader.Next<double>("a momentum");
    particle.pz = reader.Next<double>("a momentum");
    particle.energy = reader.Next<double>("an energy");
    reader.Skip(3);  // mass, lifetime, spin
  }
  return event;
}

LheInit ParseLheInit(std::string_view text) {
  NumberReader reader(text);
  reader.Skip(8);  // beams: identities, energies, PDF groups and sets
  LheInit init;
  init.weight_strategy = reader.Next<int>("the weighting strategy");
  const int processes = reader.Next<int>("the number of processes");
  for (int i = 0; i < processes; ++i) {
    init.cross_section_pb += reader.Next<double>("a cross section");
    reader.Skip(3);  // its error, the largest weight, the process's identity
  }
  return init;
}

}  // namespace zjets
