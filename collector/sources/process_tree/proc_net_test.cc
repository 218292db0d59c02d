#include <optional>
#include <string>

#include "collector/sources/process_tree/proc_file.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

constexpr char kHeadings[] =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier "
    "compressed\n";

std::string Line(const std::string& interface, int received, int sent) {
  return interface + ": " + std::to_string(received) + "  29    0    0    0     0          0         0     " +
         std::to_string(sent) + "      31    0    0    0     0       0          0\n";
}

TEST(ParseProcNetDev, LeavesLoopbackOut) {
  const InterfaceBytes bytes = ParseProcNetDev(kHeadings + Line("    lo", 1, 2) + Line("  eth0", 300, 40));
  ASSERT_EQ(bytes.size(), 1u);
  EXPECT_EQ(bytes.at("eth0").rx_bytes, 300);
  EXPECT_EQ(bytes.at("eth0").tx_bytes, 40);
}

TEST(NetCounter, CountsFromTheFirstReading) {
  NetCounter counter;
  EXPECT_EQ(counter.Add(kHeadings + Line("eth0", 1000, 2000))->rx_bytes, 0);
  const std::optional<TreeNet> later = counter.Add(kHeadings + Line("eth0", 1010, 2003));
  EXPECT_EQ(later->rx_bytes, 10);
  EXPECT_EQ(later->tx_bytes, 3);
}

TEST(NetCounter, InterfacesThatComeGoOrRestartNeverMakeItFall) {
  NetCounter counter;
  counter.Add(kHeadings + Line("eth0", 1000, 0) + Line("eth1", 50, 0));
  EXPECT_EQ(counter.Add(kHeadings + Line("eth0", 1100, 0))->rx_bytes, 100);                     // eth1 went
  EXPECT_EQ(counter.Add(kHeadings + Line("eth0", 7, 0))->rx_bytes, 107);                        // eth0 restarted
  EXPECT_EQ(counter.Add(kHeadings + Line("eth0", 7, 0) + Line("wlan0", 5, 0))->rx_bytes, 112);  // wlan0 came
}

TEST(NetCounter, UnreadableIsNotZero) {
  NetCounter counter;
  EXPECT_FALSE(counter.Add("").has_value());
}

}  // namespace
}  // namespace crema
