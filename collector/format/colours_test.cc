// What can be read, and told apart, by whom.
#include "collector/format/colours.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace crema {
namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

/// Linear sRGB (IEC 61966-2-1).
Triple Linear(std::string_view hex) {
  Triple linear{};
  for (size_t i = 0; i < 3; ++i) {
    const double value = std::stoi(std::string(hex.substr(1 + 2 * i, 2)), nullptr, 16) / 255.0;
    linear[i] = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  }
  return linear;
}

/// WCAG 2.1.
double Contrast(std::string_view a, std::string_view b) {
  const auto luminance = [](std::string_view hex) {
    const Triple rgb = Linear(hex);
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
  };
  const double one = luminance(a), other = luminance(b);
  return (std::max(one, other) + 0.05) / (std::min(one, other) + 0.05);
}

/// Normal sight, and the three kinds of dichromacy after Machado, Oliveira and Fernandes (2009).
constexpr std::array<Matrix, 4> kEyes = {{
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
    {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
    {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},
}};

Triple Lab(const Triple& linear) {
  const auto at = [&linear](size_t i) { return std::clamp(linear[i], 0.0, 1.0); };
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f((0.4124 * at(0) + 0.3576 * at(1) + 0.1805 * at(2)) / 0.95047);
  const double y = f(0.2126 * at(0) + 0.7152 * at(1) + 0.0722 * at(2));
  const double z = f((0.0193 * at(0) + 0.1192 * at(1) + 0.9505 * at(2)) / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

Triple SeenBy(const Matrix& eye, const Triple& rgb) {
  Triple seen{};
  for (size_t i = 0; i < 3; ++i) seen[i] = eye[i][0] * rgb[0] + eye[i][1] * rgb[1] + eye[i][2] * rgb[2];
  return seen;
}

/// CIE76, by the eyes that tell the two apart least.
double Distance(std::string_view a, std::string_view b) {
  double least = 1000;
  for (const Matrix& eye : kEyes) {
    const Triple one = Lab(SeenBy(eye, Linear(a))), other = Lab(SeenBy(eye, Linear(b)));
    least = std::min(least, std::hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]));
  }
  return least;
}

const Colour& Named(std::string_view name) {
  for (const std::vector<Colour>* table : {&Colours(), &PageColours()}) {
    for (const Colour& colour : *table) {
      if (colour.name == name) return colour;
    }
  }
  ADD_FAILURE() << "no colour is called " << name;
  return Colours().front();
}

void ExpectContrast(std::string_view above, std::string_view below, double least) {
  EXPECT_GE(Contrast(Named(above).light, Named(below).light), least) << above << " on " << below << ", light";
  EXPECT_GE(Contrast(Named(above).dark, Named(below).dark), least) << above << " on " << below << ", dark";
}

void ExpectApart(const std::vector<Colour>& colours, double least) {
  for (size_t i = 0; i < colours.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_GE(Distance(colours[i].light, colours[j].light), least) << colours[i].name << " " << colours[j].name;
      EXPECT_GE(Distance(colours[i].dark, colours[j].dark), least) << colours[i].name << " " << colours[j].name;
    }
  }
}

TEST(Colours, TextCanBeReadOnWhatItStandsOn) {
  for (const char* text : {"ink", "muted"}) ExpectContrast(text, "card", 4.5);
  for (const char* zone : {"idle", "others"}) ExpectContrast("ink", zone, 4.5);
  for (const char* ground : {"card", "page", "track", "gridSoft", "tip"}) {
    for (const char* text : {"ink", "secondary", "muted", "link"}) ExpectContrast(text, ground, 4.5);
  }
  for (const char* ground : {"cpu", "opening", "overhead"}) ExpectContrast("onCpu", ground, 4.5);
  for (const char* ground : {"wait", "unknown"}) ExpectContrast("onWait", ground, 4.5);
  ExpectContrast("goodText", "good", 4.5);
  ExpectContrast("watchText", "watch", 4.5);
  ExpectContrast("badText", "bad", 4.5);
  ExpectContrast("link", "linkBack", 4.5);
}

TEST(Colours, LinesStandOutFromTheCard) {
  for (const char* line : {"cpu", "wait", "opening", "overhead", "events", "data", "limit", "baseline"})
    ExpectContrast(line, "card", 3);
}

TEST(Colours, GroupsOfTheBudgetAreToldApartByAllEyes) {
  ExpectApart({Named("cpu"), Named("wait"), Named("opening"), Named("overhead"), Named("idle")}, 20);
}

TEST(Colours, FiveDatasetsAreToldApartByAllEyes) {
  ExpectApart({DatasetColours().begin(), DatasetColours().begin() + 5}, 13);
}

TEST(Colours, HaveOneNameEach) {
  std::set<std::string_view> names;
  for (const std::vector<Colour>* table : {&Colours(), &PageColours(), &DatasetColours()}) {
    for (const Colour& colour : *table) EXPECT_TRUE(names.insert(colour.name).second) << colour.name;
  }
}

TEST(ColourVariables, AreThoseOfBothThemes) {
  const std::string css = ColourVariables();
  const size_t dark = css.find(":root[data-theme=\"dark\"]");
  ASSERT_NE(dark, std::string::npos);
  EXPECT_LT(css.find("  --on-cpu: #ffffff;\n"), dark);
  EXPECT_GT(css.find("  --on-cpu: #06121e;\n"), dark);
  EXPECT_NE(css.find("  --dataset12: "), std::string::npos);
}

TEST(TerminalColour, IsOneOfItsOwn) {
  EXPECT_EQ(TerminalColour("cpu"), "34");
  EXPECT_NE(TerminalColour("opening"), TerminalColour("stillOpen"));
  EXPECT_EQ(TerminalColour("ink"), "");
}

}  // namespace
}  // namespace crema
