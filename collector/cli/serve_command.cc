// `crema serve`: a page of a running job, its figures as JSON and for Prometheus.
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>

#include "collector/cli/measured_source.h"
#include "collector/cli/subcommand.h"
#include "collector/exports/export_format.h"
#include "collector/metrics/measurement_directory.h"
#include "collector/report/report_page.h"
#include "collector/server/access.h"
#include "collector/server/http_server.h"
#include "collector/server/live_service.h"
#include "collector/server/live_sources.h"
#include "fmt/format.h"

namespace crema {
namespace {

struct ServeOptions {
  LiveCommandOptions live;
  std::string bind = "127.0.0.1";
  uint16_t port = 0;
  std::vector<std::string> host_names;
  std::string token;
  std::string token_file;
  bool no_token = false;
  OutputOptions output;
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

/// What `crema report` writes of these sources.
absl::StatusOr<std::string> ReportOf(const LiveCommandOptions& live, const std::string& run_id) {
  MeasureOptions options;
  options.sources = live.sources;
  options.name = live.name;
  // a measurement holds one run, and is read as it stands
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
  const int printed = PrintOut(AddressToOpen(server, options) + "\n");
  if (printed != kDone) return printed;
  std::fflush(stdout);
  if (!options.output.quiet) {
    std::fprintf(stderr, "crema: serving %s; Ctrl-C ends it\n", fmt::format("{}", live.name).c_str());
  }

  boost::asio::signal_set signals(context, SIGINT, SIGTERM, SIGHUP);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    signals.clear();  // a second one ends this process at once
    service.Stop();
    server.Stop();
    if (service.IsWritingReport() && !options.output.quiet) {
      std::fputs("crema: ends when the report that is being written is done; Ctrl-C again ends it now\n", stderr);
    }
  });
  service.Start();
  context.run();  // until all that was begun has ended, which a signal makes it
  return kDone;
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
  serve->add_option("--port", options->port, "Port (default 0: a free one, which is printed)");
  serve->add_option("--bind", options->bind, "Address to listen on (default: only this machine can connect)");
  serve->add_option("--host", options->host_names, "Another host name under which browsers reach this server")
      ->option_text("NAME");
  CLI::Option* token = serve->add_option("--token", options->token,
                                         "The token that a client must send (default: crema makes one and prints it). "
                                         "Others on this machine can read it in `ps`");
  token->check(
      [](const std::string& text) { return CanBeToken(text) ? "" : "a token is 8 to 256 letters, digits and -._~"; });
  CLI::Option* token_file =
      serve->add_option("--token-file", options->token_file,
                        "File of the token, for scrapers. If there is none, crema makes one that only you can read "
                        "(0600). Then crema prints the token only on a terminal");
  CLI::Option* no_token = serve->add_flag("--no-token", options->no_token, "Anybody who can reach the server may look");
  token->excludes(token_file);
  no_token->excludes(token)->excludes(token_file);
  AddOutputOptions(serve, &options->output);
  serve->callback([options, status] { *status = Serve(*options); });
}

}  // namespace crema
