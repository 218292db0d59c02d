#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "collector/render/renderer.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

/// A PNG of one white pixel.
const std::string kPng(
    "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x8\0\0\0\0:~\x9bU\0\0\0\nIDATx\x9c"
    "c\xf8\xff\x1f\0\3\0\1\xff\x99\x9c\xcd\xd0\0\0\0\0IEND\xae"
    "B`\x82",
    67);

class PictureFile : public testing::Test {
 protected:
  PictureFile() : folder_(fs::path(testing::TempDir()) / "pictures") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string Content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  fs::path folder_;
};

TEST(PictureMark, TellsWhoWroteAFile) {
  EXPECT_FALSE(IsMarkedPicture(kPng));
  EXPECT_TRUE(IsMarkedPicture(MarkedPicture(kPng, "png")));
  EXPECT_FALSE(IsMarkedPicture("<svg></svg>"));
  EXPECT_TRUE(IsMarkedPicture(MarkedPicture("<svg></svg>", "svg")));
  EXPECT_TRUE(IsMarkedPicture(MarkedPicture("%PDF-1.7\n%%EOF", "pdf")));
  EXPECT_TRUE(IsMarkedPicture(R"({"$schema":"...","usermeta":{"crema":"cut_flow"}})"));
  EXPECT_FALSE(IsMarkedPicture(R"({"thesis": "crema plot"})"));
}

TEST(PictureMark, IsAChunkOfThePngBeforeItsData) {
  const std::string marked = MarkedPicture(kPng, "png");
  // the length of its data, and the CRC that zlib gives for type and data
  EXPECT_EQ(marked.substr(33, 4), std::string("\0\0\0\x13", 4));
  EXPECT_EQ(marked.substr(37, 23), std::string("tEXtSoftware\0crema plot", 23));
  EXPECT_EQ(marked.substr(60, 4), "\x30\x3F\x1B\x9F");
  EXPECT_EQ(marked.substr(64), kPng.substr(33));
}

TEST_F(PictureFile, IsWrittenWholeAndLeavesNothingElse) {
  const std::string path = Path("new/folder/a.svg");
  ASSERT_TRUE(WritePicture(path, "<svg/>").ok());
  EXPECT_EQ(Content(path), "<svg/>");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "new/folder"), fs::directory_iterator()), 1);
}

TEST_F(PictureFile, ReplacesOnlyWhatCremaWrote) {
  ASSERT_TRUE(WritePicture(Path("thesis.svg"), "<svg>years of work</svg>").ok());
  EXPECT_EQ(CheckMayReplacePicture(Path("thesis.svg"), false).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(CheckMayReplacePicture(Path("thesis.svg"), true).ok());
  ASSERT_TRUE(WritePicture(Path("ours.svg"), MarkedPicture("<svg/>", "svg")).ok());
  EXPECT_TRUE(CheckMayReplacePicture(Path("ours.svg"), false).ok());
  EXPECT_TRUE(CheckMayReplacePicture(Path("nothing.svg"), false).ok());
}

TEST_F(PictureFile, NeverReplacesADirectoryOrALink) {
  fs::create_directory(Path("folder.png"));
  EXPECT_FALSE(CheckMayReplacePicture(Path("folder.png"), true).ok());
  fs::create_symlink(Path("elsewhere"), Path("link.png"));
  EXPECT_FALSE(CheckMayReplacePicture(Path("link.png"), true).ok());
}

TEST_F(PictureFile, SaysWhatTheDiskSays) {
  std::ofstream(Path("file")) << "x";
  const absl::Status status = WritePicture(Path("file/a.png"), kPng);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(std::string(status.message()).find("file"), std::string::npos);
}

}  // namespace
}  // namespace crema
