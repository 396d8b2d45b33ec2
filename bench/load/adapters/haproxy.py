"""HAProxy in master-worker mode with one thread, metrics by its own Prometheus service."""
import os
import signal

from kit import settings
from .base import Adapter, Spec, binary, get_over_unix, output, put


class HAProxy(Adapter):
    name = "haproxy"
    kinds = frozenset({"http", "tcp"})
    global_lines = "  maxconn 9700\n"
    tcp_lines = ""

    @property
    def program(self):
        return binary("HAPROXY", "haproxy", "/usr/sbin/haproxy")

    def missing(self):
        return "" if self.program else "no haproxy found; apt install haproxy, or set HAPROXY"

    def version(self):
        return output(self.program, "-v").split()[2]

    def configure(self, spec: Spec):
        http = spec.kind == "http"
        backends = min(100, len(spec.hosts)) or 1
        use = "  default_backend b0\n"
        if spec.hosts:
            put(f"{spec.dir}/hosts.map", "".join(f"{host} b{i % backends}\n" for i, host in enumerate(spec.hosts)))
            use = f"  use_backend %[req.hdr(host),host_only,lower,map_str({spec.dir}/hosts.map)]\n"
        log = "  log global\n  option httplog\n" if spec.access_log else ""
        text = f"""global
  nbthread {spec.workers}
{self.global_lines}  stats socket {spec.dir}/ctl mode 600 level admin expose-fd listeners
  hard-stop-after 20s
{'  log stdout format raw local0' if spec.access_log else ''}
defaults
  mode {spec.kind}
  timeout connect 5s
  timeout client 100s
  timeout server 100s
  timeout http-keep-alive 100s
{'  http-reuse always' if http else self.tcp_lines}
frontend f
  bind 127.0.0.1:{spec.port} backlog 4096
{'  option forwardfor' if http else ''}
{log}{use}frontend metrics
  mode http
  bind unix@{spec.dir}/metrics.sock
  http-request use-service prometheus-exporter if {{ path /metrics }}
"""
        text += "".join(f"backend b{i}\n  server s 127.0.0.1:{spec.backend}\n" for i in range(backends))
        put(f"{spec.dir}/haproxy.cfg", text)
        return [self.program, "-W", "-db", "-f", f"{spec.dir}/haproxy.cfg"]

    def files(self, spec):
        return [f"{spec.dir}/haproxy.cfg"]

    def reload(self, process, spec):
        self.configure(spec)
        os.kill(process.pid, signal.SIGUSR2)

    def scrape(self, spec):
        return get_over_unix(f"{spec.dir}/metrics.sock", "/metrics")


class HAProxySplice(HAProxy):
    """Told to splice: with its defaults, and even with splice-auto, HAProxy 2.6 hardly does."""
    name, kinds = "haproxy-splice", frozenset({"tcp"})
    global_lines = f"  maxconn 2000\n  maxpipes 1000\n  tune.pipesize {settings.PIPE_BYTES}\n"
    tcp_lines = "  option splice-request\n  option splice-response"

    def version(self):
        return f"{super().version()}, splicing forced, pipes of {settings.PIPE_BYTES // 1024} kB"


adapters = [HAProxy(), HAProxySplice()]
