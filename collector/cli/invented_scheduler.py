"""A server that answers as a Dask scheduler without crema's plug-in does."""

import http.server
import json
import threading


class InventedScheduler:
    """`counts` is what it answers to `/json/counts.json`; `asked` are the paths that it was asked for."""

    def __init__(self):
        self.counts = {"workers": 2, "cores": 4, "tasks": 10, "processing": 0, "waiting": 0, "erred": 0}
        self.asked = []
        invented = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                invented.asked.append(self.path)
                is_known = self.path == "/json/counts.json"
                body = json.dumps(invented.counts).encode() if is_known else b""
                self.send_response(200 if is_known else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                """Prints nothing."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
