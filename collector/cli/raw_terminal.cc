#include "collector/cli/raw_terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

namespace crema {
namespace {

constexpr char kAlternateScreen[] = "\033[?1049h\033[?25l\033[2J";
constexpr char kNormalScreen[] = "\033[?25h\033[?1049l";

}  // namespace

bool RawTerminal::Write(const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    done += static_cast<size_t>(written);
  }
  return true;
}

void RawTerminal::Enter() {
  if (is_entered_) return;
  is_entered_ = true;
  has_keys_ = tcgetattr(STDIN_FILENO, &before_) == 0;
  if (has_keys_) {
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  Write(kAlternateScreen);
}

void RawTerminal::Leave() {
  if (!is_entered_) return;
  is_entered_ = false;
  Write(kNormalScreen);
  if (has_keys_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

bool RawTerminal::Draw(const std::string& text) {
  std::string screen = "\033[H";
  for (const char character : text) {
    if (character == '\n') {
      screen += "\033[K\r\n";
    } else {
      screen += character;
    }
  }
  // no newline after the last line: it would scroll a screen that is full
  if (screen.size() >= 2 && screen.compare(screen.size() - 2, 2, "\r\n") == 0) screen.resize(screen.size() - 2);
  return Write(screen + "\033[J");
}

TerminalSize SizeOfTerminal() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

}  // namespace crema
