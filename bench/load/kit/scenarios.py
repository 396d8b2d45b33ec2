"""The loads: what each sets up, how it is measured, and the bars that the task sets for it."""
import json
import subprocess
import time
from dataclasses import dataclass, field
from typing import Callable

from . import processes, settings

GB = 10 ** 9
BULK_ANSWER = 1 << 30
NARROW_ROUNDS = 15  # bars between 0.9 and 1.15 need them


@dataclass(frozen=True)
class Bar:
    """The ratio to reach, within rounds, against one peer or against the better of some."""
    against: tuple
    least: float
    goal: float | None = None


@dataclass(frozen=True)
class Scenario:
    title: str
    unit: str
    measure: Callable              # Proxy -> figures of one round
    kind: str = "http"
    backend: str = "http"
    hosts: int = 0
    access_log: bool = False
    fresh: bool = False            # a newly started proxy for every round
    products_only: bool = False
    bars: tuple = field(default=())
    most: float | None = None      # upper bar on the value itself

    @property
    def rounds(self):
        return NARROW_ROUNDS if any(0.9 <= bar.least <= 1.15 for bar in self.bars) else 5


def load(*arguments, **options):
    return lambda proxy: proxy.load(*arguments, **options)


def wrk(proxy):
    """The same load by a generator that others know."""
    command = ["wrk", "-t1", "-c64", f"-d{settings.SECONDS:g}", "--latency", "-s", f"{proxy.bench.here}/tools/wrk.lua",
               f"http://127.0.0.1:{proxy.spec.port}/"]
    run = lambda: processes.finish(processes.start(command, settings.CPU_LOAD, stdout=subprocess.PIPE, text=True))
    text, used = proxy.measured(run)
    seen = json.loads(text[text.rindex("{"):])
    return proxy.figures(seen, seen["done"], used)


def idle(count):
    """Memory for each idle connection after one request each, in kB; and the CPU that they cost while nothing happens."""
    def measure(proxy):
        before = processes.pss(proxy.pid)
        command = [f"{proxy.bench.tools}/client", "http", "-H", "-c", str(count), "-d", "60", str(proxy.spec.port)]
        client = processes.start(command, settings.CPU_LOAD, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            if "ready" not in client.stdout.readline():
                raise RuntimeError("not all idle connections came up")
            time.sleep(1)
            memory, used = processes.pss(proxy.pid), sum(processes.cpu(proxy.pid))
            time.sleep(2)
            used = (sum(processes.cpu(proxy.pid)) - used) / 2
        finally:
            client.stdin.close()
            client.wait(20)
            processes.children.remove(client)
        return {"value": (memory - before) / count / 1000, "memory": memory, "note": f"idle CPU {used:.3f} s/s"}
    return measure


def at_rest(proxy):
    """RSS in MB of the largest process that is not the first, of an instance that has served one request; all in the note."""
    time.sleep(2)
    sizes = processes.memory_each(proxy.pid)
    note = ", ".join(f"{rss / 1e6:.1f} ({pss / 1e6:.1f})" for pss, rss in sizes)
    return {"value": max(rss for _, rss in sizes[1:] or sizes) / 1e6, "memory": sum(pss for pss, _ in sizes),
            "note": f"processes, RSS (PSS) in MB: {note}"}


def start(proxy):
    return {"value": proxy.start_seconds, "memory": processes.pss(proxy.pid), "note": f"{proxy.start_cpu:.2f} CPU s"}


def reload_once(proxy):
    """Seconds from the signal to the first answer by the new configuration, and the CPU seconds that all processes spent."""
    spec, ports = proxy.spec, proxy.bench.ports
    spec.backend = ports["second"] if spec.backend == ports["http"] else ports["http"]
    writing = time.time()
    proxy.adapter.configure(spec)  # writing the files is not the proxy's work
    writing = time.time() - writing
    used, begun, peak = sum(processes.cpu(proxy.pid)), time.time(), 0
    proxy.reload()                 # writes them once more
    while not proxy.answers(spec.backend):
        if time.time() - begun > 120:
            raise RuntimeError("the reload did not arrive within 120 s")
        peak = max(peak, processes.pss(proxy.pid))
        time.sleep(0.01)
    value = time.time() - begun - writing
    time.sleep(1.5)
    used = sum(processes.cpu(proxy.pid)) - used
    return {"value": value, "memory": max(peak, processes.pss(proxy.pid)), "note": f"{used:.2f} CPU s"}


def reloads_under_load(*arguments):
    """Failures that clients see during 20 reloads in 10 s under a paced load."""
    def measure(proxy):
        command = [f"{proxy.bench.tools}/client", "http", "-c", "32", "-r", "2000", "-d", "11", "-N", proxy.bench.names_file(1000), *arguments,
                   str(proxy.spec.port)]
        client = processes.start(command, settings.CPU_LOAD, stdout=subprocess.PIPE, text=True)
        time.sleep(0.5)
        for _ in range(20):
            proxy.reload()
            time.sleep(0.5)
        seen = json.loads(processes.finish(client, 60))
        failures = {k: seen[k] for k in ("connect", "stale", "lost", "status", "timeout") if seen[k]}
        return {"value": sum(failures.values()), "memory": processes.pss(proxy.pid), "failures": failures,
                "note": f"{seen['done']} requests, p99 {seen['p99']:.0f} µs"}
    return measure


BOTH = ("haproxy", "nginx")
SCENARIOS = {
    "a": Scenario("HTTP/1.1 keep-alive GET, 1 kB, 64 connections", "req", load("http", "-c", 64), bars=(Bar(BOTH, 1.35, 1.5),)),
    "aw": Scenario("the same by wrk", "req", wrk, bars=(Bar(BOTH, 1.35, 1.5),)),
    "log": Scenario("the same with an access log", "req", load("http", "-c", 64), access_log=True),
    "al": Scenario("the same paced at 4,000/s (latency)", "req", load("http", "-c", 64, "-r", 4000)),
    "b": Scenario("HTTP/1.1 keep-alive over 10,000 host names", "req",
                  lambda p: p.load("http", "-c", 64, "-N", p.bench.names_file(10000)), hosts=10000),
    "c": Scenario("HTTP/1.1, one connection per request", "req", load("http", "-c", 64, "-k", 1), bars=(Bar(BOTH, 1.0, 1.1),)),
    "j1": Scenario("HTTP download of 1 MB, 8 connections", "GB", load("http", "-c", 8, "-p", "/b/1000000", unit="bytes", per=GB),
                   bars=(Bar(BOTH, 1.2),)),
    "j100": Scenario("HTTP download of 100 MB, 8 connections", "GB", load("http", "-c", 8, "-p", "/b/100000000", unit="bytes", per=GB)),
    "g1": Scenario("TCP bulk download, 1 stream", "GB", load("raw", "-c", 1, "-q", 1, "-x", BULK_ANSWER, unit="bytes", per=GB),
                   kind="tcp", backend="bulk", bars=(Bar(BOTH, 4.0), Bar(("haproxy-splice",), 0.9, 1.0))),
    "g16": Scenario("TCP bulk download, 16 streams", "GB", load("raw", "-c", 16, "-q", 1, "-x", BULK_ANSWER, unit="bytes", per=GB),
                    kind="tcp", backend="bulk", bars=(Bar(BOTH, 3.5), Bar(("haproxy-splice",), 0.9, 1.0))),
    "gp": Scenario("TCP ping-pong of 64 B, 64 connections", "round trip", load("raw", "-c", 64), kind="tcp", backend="echo",
                   bars=(Bar(BOTH, 1.0),)),
    "gc": Scenario("TCP connections, 4 kB answer each", "connection", load("raw", "-c", 64, "-k", 1, "-x", 4096), kind="tcp", backend="hello"),
    "k": Scenario("9,000 idle HTTP connections: kB each", "kB", idle(9000), fresh=True, products_only=True, most=1.0),
    "m": Scenario("an idle worker process: MB of RSS", "MB", at_rest, fresh=True, products_only=True, most=60),
    "rk": Scenario("20 reloads under keep-alive load, 1,000 hosts: failures", "failures", reloads_under_load(), hosts=1000, products_only=True),
    "rc": Scenario("20 reloads under connection-per-request load, 1,000 hosts: failures", "failures", reloads_under_load("-k", "1"), hosts=1000,
                   products_only=True),
}
for count, label in ((1000, "1k"), (10000, "10k"), (100000, "100k")):
    SCENARIOS["s" + label] = Scenario(f"start with {count:,} host names: seconds", "s", start, hosts=count, fresh=True, products_only=True)
    SCENARIOS["r" + label] = Scenario(f"reload with {count:,} host names: seconds", "s", reload_once, hosts=count, products_only=True)
