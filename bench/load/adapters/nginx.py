"""nginx with one worker, metrics by stub_status."""
import os

from kit import settings
from .base import Adapter, Spec, binary, get_over_unix, output, put

STREAM_MODULE = "/usr/lib/nginx/modules/ngx_stream_module.so"


class Nginx(Adapter):
    name = "nginx"
    kinds = frozenset({"http", "tcp"})

    @property
    def program(self):
        return binary("NGINX", "nginx", "/usr/sbin/nginx")

    @property
    def stream_module(self):
        """Path of the stream module where nginx has it as a module; "" where it is built in."""
        return os.environ.get("NGINX_STREAM_MODULE", STREAM_MODULE if os.path.exists(STREAM_MODULE) else "")

    def missing(self):
        if not self.program:
            return "no nginx found; apt install nginx libnginx-mod-stream, or set NGINX"
        if not self.stream_module and "--with-stream " not in output(self.program, "-V") + " ":
            return "nginx has no stream module; apt install libnginx-mod-stream, or set NGINX_STREAM_MODULE"
        return ""

    def version(self):
        return output(self.program, "-v").split("nginx/")[1].split()[0]

    def configure(self, spec: Spec):
        os.makedirs(f"{spec.dir}/tmp", exist_ok=True)
        load = f"load_module {self.stream_module};\n" if self.stream_module and spec.kind == "tcp" else ""
        text = f"""{load}daemon off;
worker_processes {spec.workers};
pid {spec.dir}/pid;
error_log {spec.dir}/error.log crit;
worker_rlimit_nofile 20000;
events {{ worker_connections 19500; accept_mutex off; }}
{self.http(spec) if spec.kind == 'http' else self.stream(spec)}"""
        put(f"{spec.dir}/nginx.conf", text)
        return [self.program, "-p", spec.dir, "-e", f"{spec.dir}/error.log", "-c", f"{spec.dir}/nginx.conf"]

    def http(self, spec):
        backends = min(100, len(spec.hosts)) or 1
        temporary = "".join(f" {kind}_temp_path {spec.dir}/tmp;" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        log = f"{spec.dir}/access.log combined buffer=64k flush=1s" if spec.access_log else "off"
        upstreams = "".join(
            f" upstream b{i} {{ server 127.0.0.1:{spec.backend}; keepalive 256; keepalive_requests 1000000000; }}\n" for i in range(backends))
        servers = "".join(
            f" server {{ listen 127.0.0.1:{spec.port}{' backlog=4096' if i == 0 else ''};{f' server_name {host};' if host else ''}"
            f" location / {{ proxy_pass http://b{i % backends}; }} }}\n" for i, host in enumerate(spec.hosts or [""]))
        return f"""http {{
 access_log {log};
{temporary}
 keepalive_requests 1000000000; keepalive_timeout 100s;
 server_names_hash_max_size {max(512, 4 * len(spec.hosts))}; server_names_hash_bucket_size 128;
 proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
 proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
{upstreams}{servers} server {{ listen unix:{spec.dir}/metrics.sock; access_log off; location /metrics {{ stub_status; }} }}
}}
"""

    def stream(self, spec):
        return f"""stream {{
 server {{ listen 127.0.0.1:{spec.port} backlog=4096; proxy_timeout 100s; proxy_pass 127.0.0.1:{spec.backend}; }}
}}
"""

    def files(self, spec):
        return [f"{spec.dir}/nginx.conf"]

    def scrape(self, spec):
        return get_over_unix(f"{spec.dir}/metrics.sock", "/metrics") if spec.kind == "http" else 0


class NginxLargeBuffer(Nginx):
    """nginx stream with a buffer of the size that the other peers' pipes have; its default is 16 kB."""
    name, kinds = "nginx-256k", frozenset({"tcp"})

    def version(self):
        return f"{super().version()}, proxy_buffer_size {settings.PIPE_BYTES // 1024}k"

    def stream(self, spec):
        return super().stream(spec).replace("proxy_timeout", f"proxy_buffer_size {settings.PIPE_BYTES // 1024}k; proxy_timeout")


adapters = [Nginx(), NginxLargeBuffer()]
