"""A scheduler that tells what a test has it tell, over HTTP and its `/eventstream` (a WebSocket, RFC 6455)."""

import base64
import hashlib
import json
import socketserver
import struct
import threading

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def frame(text):
    """One message, as a server sends it: whole, and not masked."""
    data = text.encode()
    size = len(data)
    head = bytes([size]) if size < 126 else struct.pack(">BH", 126, size)
    return b"\x81" + head + data


def finished(key, worker="tcp://node:1", seconds=0.5, **changes):
    message = {"name": "transition", "key": key, "worker": worker, "action": "compute", "status": "OK"}
    return json.dumps({**message, "start": 1000.0, "stop": 1000.0 + seconds, **changes})


class InventedScheduler:
    """`counts` and `compute_seconds` are what it tells when asked; `received` is what each reader of the stream sent
    after its handshake."""

    def __init__(self):
        self.counts = {"workers": 2, "cores": 4, "tasks": 10, "processing": 0, "waiting": 0, "erred": 0}
        self.compute_seconds = None
        self.received = []
        self.streams = []
        self.changed = threading.Condition()
        invented = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                invented.serve(self)

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def serve(self, handler):
        while request := handler.rfile.readline().decode():
            fields = {}
            while line := handler.rfile.readline().decode().strip():
                name, _, value = line.partition(":")
                fields[name.lower()] = value.strip()
            path = request.split(" ")[1]
            if path == "/eventstream":
                return self.stream(handler, fields)
            body = self.body(path)
            status = "404 Not Found" if body is None else "200 OK"
            data = (body or "").encode()
            handler.wfile.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)
        return None

    def body(self, path):
        if path == "/json/counts.json":
            return json.dumps(self.counts)
        if path == "/metrics" and self.compute_seconds is not None:
            name = 'dask_scheduler_tasks_compute_seconds_total{task_prefix_name="fill"}'
            return f"# TYPE {name.split('{')[0]} counter\n{name} {self.compute_seconds}\n"
        return None

    def stream(self, handler, fields):
        accept = base64.b64encode(hashlib.sha1((fields["sec-websocket-key"] + GUID).encode()).digest()).decode()
        head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        handler.wfile.write(f"{head}Sec-WebSocket-Accept: {accept}\r\n\r\n".encode())
        received = []
        with self.changed:
            self.streams.append(handler)
            self.received.append(received)
            self.changed.notify_all()
        while data := handler.connection.recv(4096):
            received.append(data)

    def wait_for_stream(self, number, timeout):
        """Until a reader has connected for the `number`th time."""
        with self.changed:
            return self.changed.wait_for(lambda: len(self.streams) >= number, timeout)

    def tell(self, *messages):
        """The last reader that connected hears it."""
        self.streams[-1].wfile.write(b"".join(frame(message) for message in messages))

    def hang_up(self):
        """The last reader's connection breaks."""
        self.streams[-1].connection.shutdown(2)
