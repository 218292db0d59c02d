"""Runs cells in a Jupyter kernel and prints what a notebook would show of each: a list of outputs for every cell.

Takes the cells as a JSON list on stdin. Run with the Python of .cache/test/jupyter, which has the kernel.
"""

import json
import sys

from jupyter_client.manager import start_new_kernel

SECONDS = 120


def outputs_of(client, cell):
    outputs = []

    def keep(message):
        if message["msg_type"] in ("execute_result", "display_data", "error", "stream"):
            outputs.append({"type": message["msg_type"], **message["content"]})

    client.execute_interactive(cell, timeout=SECONDS, output_hook=keep)
    return outputs


def main():
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=SECONDS)
    try:
        shown = [outputs_of(client, cell) for cell in json.load(sys.stdin)]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    json.dump(shown, sys.stdout)


if __name__ == "__main__":
    main()
