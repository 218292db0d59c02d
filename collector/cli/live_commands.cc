// Commands that follow a job: `crema serve` (a page, JSON, Prometheus); then `crema top`.
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <termios.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "collector/cli/measured_source.h"
#include "collector/metrics/measurement_directory.h"
#include "collector/report/report_page.h"
#include "collector/server/http_server.h"
#include "collector/server/live_service.h"
#include "collector/server/live_sources.h"
#include "collector/terminal/terminal.h"

namespace crema {
namespace {

struct LiveCommandOptions {
  std::vector<std::string> sources;
  std::string name;
  std::string run;
  std::vector<std::string> total_events;
  OutputOptions output;
};

std::optional<int64_t> EventsOf(const std::string& text) {
  int64_t number = 0;
  return absl::SimpleAtoi(text, &number) && number > 0 ? std::optional(number) : std::nullopt;
}

void AddLiveOptions(CLI::App* subcommand, LiveCommandOptions* options) {
  subcommand
      ->add_option("SOURCE", options->sources,
                   "Directories of record logs (of `crema run`, or CREMA_DIR), single logs, " + EngineAddressesHelp())
      ->required();
  subcommand->add_option("--name", options->name, "Name of the run (default: the name of the first source)");
  subcommand->add_option("--run", options->run,
                         "The run whose records are taken: its id, or all (default: the first run that is seen)");
  subcommand
      ->add_option("--total-events", options->total_events,
                   "Events that the whole run will process, or DATASET=EVENTS for each dataset. Progress and time left "
                   "need it (default: CREMA_TOTAL_EVENTS of the job)")
      ->delimiter(',')
      ->take_all()
      ->option_text("N|DATASET=N,...");
}

// Throws CLI::ValidationError where --total-events is neither a number nor DATASET=NUMBER.
LiveOptions ReadLiveOptions(const LiveCommandOptions& options) {
  LiveOptions live;
  live.name = options.name.empty() ? NameOfSource(options.sources.front()) : options.name;
  live.run = options.run;
  for (const std::string& total : options.total_events) {
    const size_t equals = total.rfind('=');
    const std::optional<int64_t> events = EventsOf(equals == std::string::npos ? total : total.substr(equals + 1));
    if (!events.has_value()) {
      throw CLI::ValidationError("--total-events", "`" + total + "` is neither a number of events nor DATASET=NUMBER");
    }
    if (equals == std::string::npos) {
      live.total_events = events;
    } else {
      live.total_events_of_dataset[total.substr(0, equals)] = *events;
    }
  }
  return live;
}

struct ServeOptions {
  LiveCommandOptions live;
  std::string bind = "127.0.0.1";
  uint16_t port = 0;
  std::vector<std::string> host_names;
  std::string token;
  std::string token_file;
  bool no_token = false;
};

/// Whoever else is on this machine, or can reach it, must show that the address was given to him.
absl::StatusOr<std::string> TokenFor(const ServeOptions& options) {
  if (options.no_token) return std::string();
  if (!options.token_file.empty()) return TokenOfFile(options.token_file);
  return options.token.empty() ? MakeToken() : options.token;
}

std::string AddressToOpen(const HttpServer& server, const ServeOptions& options) {
  const std::vector<std::string>& names = server.access().host_names;
  const std::string url = server.url(options.host_names.empty() ? names.back() : options.host_names.front());
  const std::string& token = server.access().token;
  // where a batch system keeps what is printed, others may read it
  const bool is_in_file = !options.token_file.empty() && isatty(STDOUT_FILENO) == 0;
  return token.empty() || is_in_file ? url : url + "?token=" + token;
}

/// Names the step after a run was followed, if one source has records or samples of it. The terminal may be gone.
int EndFollowing(const LiveCommandOptions& options, const LiveModel& model) {
  const bool has_records = model.totals().records > 0;
  const bool is_known = has_records || model.command().known;
  if (options.sources.size() != 1 || !is_known || model.has_schedulers_only()) return kExitDone;
  const std::string run = model.run_id().empty() ? "all" : model.run_id();
  const std::string command =
      fmt::format("crema show {}{}", ShellWord(options.sources.front()), has_records ? " --run " + ShellWord(run) : "");
  const bool is_address = options.sources.front().find("://") != std::string::npos;
  const char* const shows = is_address ? "what was recorded, as long as it answers" : "what was recorded";
  std::fputs(NextStep(options.output, command, shows, STDERR_FILENO).c_str(), stderr);
  return kExitDone;
}

/// What `crema report` writes of these sources.
absl::StatusOr<std::string> ReportOf(const LiveCommandOptions& live, const std::string& run_id) {
  MeasureOptions options;
  options.sources = live.sources;
  options.name = live.name;
  // a measurement holds one run, and is read as it is
  options.run = live.sources.size() == 1 && IsMeasurement(live.sources.front()) ? live.run : run_id;
  const absl::StatusOr<MeasuredSource> opened = MeasuredSource::Open(options, /*quiet=*/true);
  if (!opened.ok()) return opened.status();
  const ExportSource source = ExportSourceOf(*opened);
  std::string page;
  TextSink sink(&page);
  if (const absl::Status status = ReportFormat().write_file(source, "", &sink); !status.ok()) return status;
  return page;
}

int Serve(const ServeOptions& options) {
  const LiveOptions live = ReadLiveOptions(options.live);
  OrFail(LiveSources::Check(options.live.sources));
  const std::string token = OrFail(TokenFor(options));
  setpriority(PRIO_PROCESS, 0, 10);  // the measured job comes first

  boost::asio::io_context context;
  HttpServer* listening = nullptr;
  LiveService service(&context, options.live.sources, live, [&listening] {
    if (listening != nullptr) listening->Broadcast();
  });
  service.OfferReport([live = options.live](const std::string& run_id) { return ReportOf(live, run_id); });
  HttpServer server(&context, &service, {token, OwnHostNames(options.host_names)});
  listening = &server;
  OrFail(server.Listen(options.bind, options.port));
  if (const int printed = PrintOut(AddressToOpen(server, options) + "\n"); printed != kExitDone) return printed;
  std::fflush(stdout);
  if (!options.live.output.quiet) {
    std::fprintf(stderr, "crema: serving %s; Ctrl-C ends it\n", live.name.c_str());
  }

  boost::asio::signal_set signals(context, SIGINT, SIGTERM, SIGHUP);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    signals.clear();  // a second one ends this process at once
    service.Stop();
    server.Stop();
  });
  service.Start();
  context.run();  // until all that was begun has ended, which a signal makes it
  if (service.IsWritingReport()) _exit(EndFollowing(options.live, service.model()));  // nobody will see the report
  return EndFollowing(options.live, service.model());
}

}  // namespace

void AddServeCommand(CLI::App* program, int* status) {
  CLI::App* serve =
      program->add_subcommand("serve", "Show a running job in the browser; JSON at /api/v1, Prometheus at /metrics");
  serve->footer(
      "Example:\n  crema serve ttbar\n  crema serve dask://HOST:8787 --port 8080 --total-events 200000000\n"
      "  crema serve ttbar --bind 0.0.0.0 --port 9464 --token-file ~/.crema-token");
  auto options = std::make_shared<ServeOptions>();
  AddLiveOptions(serve, &options->live);
  serve->add_option("--port", options->port, "Port (default 0: a free one, which is printed)")
      ->check(WholeNumber(0, 65535));
  serve->add_option("--bind", options->bind, "Address to listen on (default: only this machine can connect)")
      ->type_name("ADDRESS");
  serve->add_option("--host", options->host_names, "Another host name under which browsers reach this server")
      ->option_text("NAME");
  CLI::Option* token = serve->add_option("--token", options->token,
                                         "The token that a client must send (default: crema makes one and prints it). "
                                         "Others on this machine can read it in `ps`");
  token->check(
      [](const std::string& text) { return CanBeToken(text) ? "" : "a token is 8 to 256 letters, digits and -._~"; });
  CLI::Option* token_file =
      serve
          ->add_option("--token-file", options->token_file,
                       "File of the token, for scrapers. If there is none, crema makes one that only you can read "
                       "(0600). Then crema prints the token only on a terminal")
          ->type_name("FILE");
  CLI::Option* no_token = serve->add_flag("--no-token", options->no_token, "Anybody who can reach the server may look");
  token->excludes(token_file);
  no_token->excludes(token)->excludes(token_file);
  AddOutputOptions(serve, &options->live.output);
  serve->callback([options, status] { *status = Serve(*options); });
}

// `crema top`: a running job in the terminal.

namespace {

// A terminal that is drawn on as a whole, and given back as it was.

constexpr char kAlternateScreen[] = "\033[?1049h\033[?25l\033[2J";
constexpr char kNormalScreen[] = "\033[?25h\033[?1049l";

/// While it is entered: the alternate screen of the terminal, no cursor, keys as they come without echo. Ctrl-C and
/// Ctrl-Z still send their signals.
class RawTerminal {
 public:
  RawTerminal() = default;
  ~RawTerminal() { Leave(); }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  void Enter() {
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

  void Leave() {
    if (!is_entered_) return;
    is_entered_ = false;
    Write(kNormalScreen);
    if (has_keys_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }

  /// Draws `text`, whose lines end in newlines, over what is there. False: the terminal is gone.
  bool Draw(const std::string& text) {
    const std::string lines = absl::StrReplaceAll(text, {{"\n", "\033[K\r\n"}});
    // no newline after the last line: it would scroll a screen that is full
    return Write(absl::StrCat("\033[H", absl::StripSuffix(lines, "\r\n"), "\033[J"));
  }

 private:
  bool Write(const std::string& text) { return WriteAll(STDOUT_FILENO, "stdout", text).ok(); }

  bool is_entered_ = false;
  bool has_keys_ = false;
  termios before_ = {};
};

/// Files and pipes get a line a second, until the run is over.
int PrintLines(const LiveCommandOptions& options, const LiveOptions& live) {
  boost::asio::io_context context;
  boost::asio::signal_set signals(context, SIGINT, SIGTERM, SIGHUP);
  LiveService* running = nullptr;
  int status = kExitDone;
  bool is_first = true;
  LiveService service(&context, options.sources, live, [&] {
    if (is_first) {  // nothing was read yet
      is_first = false;
      return;
    }
    status = PrintOut(RenderLiveLine(running->model(), running->figures(), running->sources()));
    std::fflush(stdout);
    if (status != kExitDone || running->model().state() != ProcessState::kRunning) {
      running->Stop();
      signals.cancel();
    }
  });
  running = &service;
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (!error) service.Stop();
  });
  service.Start();
  context.run();
  return status;
}

class Screen {
 public:
  Screen(const LiveCommandOptions& options, const LiveOptions& live)
      : options_(options),
        service_(&context_, options.sources, live, [this] { Draw(); }),
        ends_(context_, SIGINT, SIGTERM, SIGHUP),
        stops_(context_, SIGTSTP),
        resizes_(context_, SIGWINCH),
        keys_(context_) {}

  int Run() {
    terminal_.Enter();
    ends_.async_wait([this](const boost::system::error_code& error, int) {
      if (!error) Stop();
    });
    OnEach(&stops_, [this] {
      terminal_.Leave();
      raise(SIGSTOP);
      terminal_.Enter();
      Draw();
    });
    OnEach(&resizes_, [this] { Draw(); });
    if (isatty(STDIN_FILENO) != 0) {
      keys_.assign(dup(STDIN_FILENO));
      WaitForKey();
    }
    service_.Start();
    context_.run();
    terminal_.Leave();
    return EndFollowing(options_, service_.model());
  }

 private:
  void Draw() {
    winsize size = {};
    const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 && size.ws_row != 0;
    TerminalStyle style = StyleFor(STDOUT_FILENO, options_.output);
    style.width = is_known ? size.ws_col : 80;
    const std::string text =
        RenderLive(service_.model(), service_.figures(), service_.sources(), style, is_known ? size.ws_row : 24);
    if (!terminal_.Draw(text)) Stop();
  }
  void Stop() {
    is_over_ = true;
    service_.Stop();
    ends_.cancel();
    stops_.cancel();
    resizes_.cancel();
    boost::system::error_code ignored;
    keys_.close(ignored);
  }
  template <class Take>
  void OnEach(boost::asio::signal_set* signals, const Take& take) {
    signals->async_wait([this, signals, take](const boost::system::error_code& error, int) {
      if (error || is_over_) return;  // this signal may have come just before the one that ends it
      OnEach(signals, take);          // first: `take` may find the terminal gone, and stops all waits then
      take();
    });
  }
  void WaitForKey() {
    keys_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
      if (error) return;
      char key = 0;
      const ssize_t got = read(STDIN_FILENO, &key, 1);
      if (got == 1 && (key == 'q' || key == 'Q')) return Stop();
      if (got == 1) WaitForKey();  // else the terminal is gone, which SIGHUP reports
    });
  }

  LiveCommandOptions options_;
  boost::asio::io_context context_;
  RawTerminal terminal_;
  LiveService service_;
  boost::asio::signal_set ends_;
  boost::asio::signal_set stops_;
  boost::asio::signal_set resizes_;
  boost::asio::posix::stream_descriptor keys_;
  bool is_over_ = false;
};

int Top(const LiveCommandOptions& options) {
  const LiveOptions live = ReadLiveOptions(options);
  OrFail(LiveSources::Check(options.sources));
  setpriority(PRIO_PROCESS, 0, 10);  // the measured job comes first
  if (isatty(STDOUT_FILENO) == 0) return PrintLines(options, live);
  return Screen(options, live).Run();
}

}  // namespace

void AddTopCommand(CLI::App* program, int* status) {
  CLI::App* top = program->add_subcommand("top", "Show a running job in the terminal; q ends it");
  top->footer(
      "If the output is not a terminal, crema prints one line each second until the run is over.\n\n"
      "Example:\n  crema top ttbar\n  crema top dask://HOST:8787 --total-events 200000000");
  auto options = std::make_shared<LiveCommandOptions>();
  AddLiveOptions(top, options.get());
  AddOutputOptions(top, &options->output);
  top->callback([options, status] { *status = Top(*options); });
}

}  // namespace crema
