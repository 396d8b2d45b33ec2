"""A proxy under test: configured, started pinned as an ordinary user, probed, loaded, measured."""
import os
import socket
import subprocess
import tempfile
import threading
import time

from adapters.base import Spec
from . import processes, settings

FAILURES = ("connect", "stale", "lost", "status", "timeout")


def free_port(first):
    """The first port from here that nobody has, another run included: proxies with SO_REUSEPORT would share one in silence."""
    for port in range(first, first + 200):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise RuntimeError("no free port; set BENCH_PORT")


class Proxy:
    next_port = settings.FIRST_PORT + 100

    def __init__(self, bench, adapter, kind, backend, **wants):
        Proxy.next_port = free_port(Proxy.next_port + 1)
        self.bench, self.adapter = bench, adapter
        folder = tempfile.mkdtemp(prefix=adapter.name + "-", dir=bench.work)
        self.spec = Spec(kind=kind, port=Proxy.next_port, backend=bench.ports[backend], dir=folder,
                         backend_ignoring_close=bench.ports["httpka"], **wants)
        command = adapter.configure(self.spec)
        self.hand_over(folder)
        started = time.time()
        with open(folder + "/out", "w") as out:
            self.process = processes.start(command, settings.CPU_PROXY, unprivileged=True, stdout=out, stderr=subprocess.STDOUT, cwd=folder)
        self.pid = self.process.pid
        while not self.answers():
            if self.process.poll() is not None or time.time() - started > 180:
                processes.stop(self.process)
                with open(folder + "/out") as out:
                    raise RuntimeError(f"{adapter.name} did not start: {out.read()[-600:]}")
            time.sleep(0.005 if time.time() - started < 2 else 0.1)
        self.start_seconds = time.time() - started
        self.start_cpu = sum(processes.cpu(self.pid))

    def hand_over(self, folder):
        """Gives the folder to the account that the proxy runs as."""
        user = settings.proxy_user()
        if not user:
            return
        for path, folders, files in os.walk(folder):
            for name in [path, *(os.path.join(path, x) for x in folders + files)]:
                os.chown(name, user.pw_uid, user.pw_gid)

    def answers(self, backend=None):
        """True when the port answers (and from that backend)."""
        try:
            with socket.create_connection(("127.0.0.1", self.spec.port), 1) as s:
                if self.spec.kind == "tcp":
                    return True
                s.settimeout(2)
                host = self.spec.hosts[-1] if self.spec.hosts else "localhost"
                s.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
                head = s.recv(4096).lower()
        except OSError:
            return False
        return head.startswith(b"http/1.1 200") and (backend is None or b"x-port: %d\r" % backend in head)

    def measured(self, load):
        """Runs load() and returns (what it returned, CPU seconds (user, system) of the proxy meanwhile).
        The metrics are read once in the middle, so that what they cost is inside."""
        reader = threading.Timer(settings.SECONDS / 2, self.adapter.scrape, [self.spec])
        before = processes.cpu(self.pid)
        reader.start()
        result = load()
        reader.join()
        after = processes.cpu(self.pid)
        return result, (after[0] - before[0], after[1] - before[1])

    def load(self, *arguments, unit="done", per=1):
        """Runs the load generator on the proxy; the figures of one round."""
        seen, used = self.measured(lambda: processes.client(self.bench.tools, *arguments, "-d", settings.SECONDS, self.spec.port))
        return self.figures(seen, seen[unit] / per, used)

    def figures(self, seen, work, used):
        total = sum(used)
        failures = {k: seen[k] for k in FAILURES if seen.get(k)}
        return {
            "work_per_cpu_second": work / total if total else 0,
            "cpu_us": total * 1e6 / work if work else 0,
            "user_share": used[0] / total if total else 0,
            "rate": work / seen["secs"],
            "p50": seen["p50"], "p99": seen["p99"], "p999": seen["p999"],
            "memory": processes.pss(self.pid),
            "failures": failures,
        }

    def reload(self):
        self.adapter.reload(self.process, self.spec)

    def stop(self):
        processes.stop(self.process, 3)
