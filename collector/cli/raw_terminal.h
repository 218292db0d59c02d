// A terminal that is drawn on as a whole, and given back as it was.
#ifndef CREMA_COLLECTOR_CLI_RAW_TERMINAL_H_
#define CREMA_COLLECTOR_CLI_RAW_TERMINAL_H_

#include <termios.h>

#include <string>

namespace crema {

/// While it is entered: the alternate screen of the terminal, no cursor, keys as they come without echo. Ctrl-C and
/// Ctrl-Z still send their signals.
class RawTerminal {
 public:
  RawTerminal() = default;
  ~RawTerminal() { Leave(); }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  void Enter();
  void Leave();
  /// Draws `text`, whose lines end in newlines, over what is there. False: the terminal is gone.
  bool Draw(const std::string& text);

 private:
  bool Write(const std::string& text);

  bool is_entered_ = false;
  bool has_keys_ = false;
  termios before_ = {};
};

struct TerminalSize {
  int columns = 80;
  int rows = 24;
};

/// Of the terminal at stdout; 80 x 24 where it does not tell.
TerminalSize SizeOfTerminal();

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_RAW_TERMINAL_H_
