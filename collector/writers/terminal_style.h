// How the terminal output is to look: how wide, in which characters, with or without colour.
#ifndef CREMA_COLLECTOR_WRITERS_TERMINAL_STYLE_H_
#define CREMA_COLLECTOR_WRITERS_TERMINAL_STYLE_H_

namespace crema {

struct TerminalStyle {
  /// Columns of the terminal. The summary uses at most 100 of them; below 80 it leaves out bars and the block over
  /// time.
  int width = 100;
  /// ANSI colours. They are never the only sign: the text says the same without them.
  bool color = false;
  /// Pure ASCII: box as `+ - |`, bars as `#`, spark lines as digits, marks as `OK`, `WARN`, `BAD`.
  bool ascii = false;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_TERMINAL_STYLE_H_
