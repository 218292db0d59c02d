"""Forwards connections to a server, and delays each block that comes back, as a distant server would."""

import contextlib
import socket
import threading
import time


class DelayingProxy:
    """Listens on a free port at `host`, until the end of the `with` block."""

    def __init__(self, host, server, delay_s):
        self._server = server  # (host, port)
        self._delay_s = delay_s
        self._listener = socket.create_server((host, 0))
        self.port = self._listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client):
        with client, socket.create_connection(self._server) as server:
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            up = threading.Thread(target=self._pass_on, args=(client, server, 0), daemon=True)
            up.start()
            self._pass_on(server, client, self._delay_s)
            up.join()

    @staticmethod
    def _pass_on(source, target, delay_s):
        with contextlib.suppress(OSError):  # either side has gone
            while block := source.recv(1 << 20):
                time.sleep(delay_s)
                target.sendall(block)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)
