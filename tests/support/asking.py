# SPDX-License-Identifier: Apache-2.0
"""A client that asks hacd for its status all the time, and how long the answers took."""
import threading
import time

import wire


class Asking:
    def __init__(self, path):
        self.client = wire.Client(path)
        self.seconds = []
        self.stopping = False
        self.thread = threading.Thread(target=self.ask, daemon=True)

    def ask(self):
        while not self.stopping:
            began = time.monotonic()
            self.client.ask(wire.QUERY, wire.message(f1=0))
            self.seconds.append(time.monotonic() - began)
            time.sleep(0.001)

    def during(self, action):
        """Median and 99th percentile of the answers while action() runs."""
        self.thread.start()
        try:
            action()
        finally:
            self.stopping = True
            self.thread.join(30)
            self.client.close()
        self.seconds.sort()
        return self.seconds[len(self.seconds) // 2], self.seconds[len(self.seconds) * 99 // 100]
