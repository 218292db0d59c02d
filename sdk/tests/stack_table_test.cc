#include "sdk/src/stacks/stack_table.h"

#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace crema {
namespace internal {
namespace {

constexpr StackTable::Room kSmall = {8, 1024, 4, 2, 256};

void Count(StackTable* table, std::uint16_t place, const std::vector<StackFrame>& stack, std::uint64_t samples = 1) {
  StackFrame* const frames = table->NextFrames();
  if (frames != nullptr) std::copy(stack.begin(), stack.end(), frames);
  table->Count(place, frames == nullptr ? 0 : stack.size(), {samples, samples * samples});
}

std::uint64_t Samples(const StackTable& table) {
  std::uint64_t samples = 0;
  for (const StackTable::Stack& stack : table) samples += stack.count.samples;
  for (std::uint16_t i = 0; i < table.places(); ++i) samples += table.place(i).other.samples;
  return samples;
}

std::string PathOf(const StackTable& table, std::uint16_t place) {
  std::string path;
  std::string_view rest = table.NamesOf(table.place(place));
  for (std::string_view name; StackTable::NextName(&rest, &name);) path += "/" + std::string(name);
  return path;
}

TEST(StackTable, CountsEqualStacksOfAPlaceTogether) {
  StackTable* const table = StackTable::Make(kSmall);
  const std::string_view names[] = {"select", "jets"};
  const std::uint16_t one = table->PlaceOf(",\"dataset\":\"a\"", names, 2);
  const std::uint16_t other = table->PlaceOf(",\"dataset\":\"b\"", names, 2);
  EXPECT_NE(one, other);
  EXPECT_EQ(table->PlaceOf(",\"dataset\":\"a\"", names, 2), one);
  EXPECT_EQ(PathOf(*table, one), "/select/jets");
  EXPECT_EQ(table->DatasetOf(table->place(other)), ",\"dataset\":\"b\"");
  Count(table, one, {100, 200}, 2);
  Count(table, one, {100, 200}, 3);
  Count(table, one, {200, 100});
  Count(table, other, {100, 200});
  ASSERT_EQ(table->end() - table->begin(), 3);
  EXPECT_EQ(table->begin()->count.samples, 5u);
  EXPECT_EQ(table->begin()->count.squares, 13u);
  table->Clear();
  EXPECT_TRUE(table->is_empty());
  EXPECT_EQ(Samples(*table), 0u);
}

TEST(StackTable, NamesWithTheSameLettersAreOtherPlaces) {
  StackTable* const table = StackTable::Make(kSmall);
  const std::string_view one[] = {"ab", "c"};
  const std::string_view other[] = {"a", "bc"};
  EXPECT_NE(table->PlaceOf("", one, 2), table->PlaceOf("", other, 2));
}

TEST(StackTable, WhatFindsNoRoomIsCountedAllTheSame) {
  StackTable* const table = StackTable::Make(kSmall);
  constexpr std::uint64_t kStacks = 1000;
  std::uint16_t last = 1;
  for (std::uint64_t i = 0; i < kStacks; ++i) {
    const std::string name = "section " + std::to_string(i);
    const std::string_view names[] = {name};
    last = table->PlaceOf("", names, 1);
    Count(table, last, std::vector<StackFrame>(1 + i % 100, 16 * i));
  }
  EXPECT_EQ(last, 0);
  EXPECT_EQ(PathOf(*table, 0), "/(other)");
  EXPECT_EQ(table->places(), kSmall.places);
  EXPECT_LE(table->end() - table->begin(), kSmall.stacks);
  EXPECT_EQ(Samples(*table), kStacks);
  EXPECT_TRUE(table->is_half_full());
  const std::string longer(1000, 'x');
  const std::string_view names[] = {longer};
  EXPECT_EQ(table->PlaceOf("", names, 1), 0);
}

TEST(StackTable, MergedHasTheFilesAndPlacesOfBoth) {
  StackTable* const one = StackTable::Make(kSmall);
  StackTable* const other = StackTable::Make(kSmall);
  StackTable* const all = StackTable::Make(StackTable::kOfThread);
  char first_name[] = "/lib/one.so";
  char second_name[] = "/lib/other.so";
  link_map first_map{};
  link_map second_map{};
  first_map.l_name = first_name;
  second_map.l_name = second_name;
  static const char kNoElf[64] = {};
  LoadedFile first{reinterpret_cast<std::uintptr_t>(kNoElf), reinterpret_cast<std::uintptr_t>(kNoElf + 32), &first_map,
                   0};
  LoadedFile second{reinterpret_cast<std::uintptr_t>(kNoElf + 32), reinterpret_cast<std::uintptr_t>(kNoElf + 64),
                    &second_map, 0};
  const std::string_view names[] = {"select"};
  const std::uint16_t place = one->PlaceOf("", names, 1);
  Count(one, place, {one->FrameOf(first, 0x10), one->FrameOf(second, 0x20)});
  const std::uint16_t there = other->PlaceOf("", names, 1);
  Count(other, there, {other->FrameOf(second, 0x20)});
  const std::vector<StackFrame> reversed = {other->FrameOf(first, 0x10), other->FrameOf(second, 0x20)};
  EXPECT_NE(reversed[0], one->FramesOf(*one->begin())[0]);  // files have other numbers there
  Count(other, there, reversed, 4);
  all->Merge(*one, 1);
  all->Merge(*other, 1.5);
  ASSERT_EQ(all->end() - all->begin(), 2);
  EXPECT_EQ(all->begin()->count.samples, 5u);
  EXPECT_EQ(all->begin()->count.squares, 1u + 24u);
  EXPECT_EQ(PathOf(*all, all->begin()->place), "/select");
  EXPECT_EQ(all->PathOf(all->FileOf(all->FramesOf(*all->begin())[1])), "/lib/other.so");
  EXPECT_EQ(all->files(), 2u);
}

}  // namespace
}  // namespace internal
}  // namespace crema
