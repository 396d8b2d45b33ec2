"""Weirgate from this clone: Gateway API objects that do what a Spec says. Metrics are always on and read from the admin socket."""
import json
import os
import shutil

from .base import Adapter, Spec, get_over_unix, output, put

MAIN = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../dist/cli/main.js"))
GATEWAY_API = "gateway.networking.k8s.io/v1"
OURS = "weirgate.dev/v1alpha1"
HOSTS_A_ROUTE = 16  # the most that an HTTPRoute may have


def named(api, kind, name, **rest):
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, **rest}


class Weirgate(Adapter):
    name = "weirgate"
    kinds = frozenset({"http", "tcp"})

    @property
    def command(self):
        """The command set by WEIRGATE, else the build of this clone."""
        given = os.environ.get("WEIRGATE")
        return [given] if given else [shutil.which("node") or "node", MAIN]

    def missing(self):
        if os.environ.get("WEIRGATE"):
            return "" if shutil.which(os.environ["WEIRGATE"]) else "WEIRGATE names no program"
        return "" if os.path.exists(MAIN) else "not built: npm run build"

    def version(self):
        return output(*self.command, "--version")

    def configure(self, spec: Spec):
        os.makedirs(f"{spec.dir}/config", exist_ok=True)
        put(f"{spec.dir}/config/bench.yaml", "---\n".join(json.dumps(d, indent=1) + "\n" for d in self.documents(spec)))
        return [*self.command, "run", "-c", f"{spec.dir}/config", "--workers", str(spec.workers), "--state", f"{spec.dir}/state",
                "--admin", f"unix:{spec.dir}/admin.sock"]

    def documents(self, spec):
        http = spec.kind == "http"
        gateway_class = {"controllerName": "weirgate.dev/gateway-controller"}
        if spec.access_log:
            gateway_class["parametersRef"] = {"group": "weirgate.dev", "kind": "WeirgateConfig", "namespace": "default", "name": "bench"}
            yield named(OURS, "WeirgateConfig", "bench", spec={"accessLog": {"target": f"{spec.dir}/access.log"}})
        yield named(GATEWAY_API, "GatewayClass", "bench", spec=gateway_class)
        yield named(GATEWAY_API, "Gateway", "bench", spec={
            "gatewayClassName": "bench",
            "addresses": [{"type": "IPAddress", "value": "127.0.0.1"}],
            "listeners": [{"name": "l", "port": spec.port, "protocol": "HTTP" if http else "TCP"}],
        })
        backends = min(100, len(spec.hosts)) or 1
        for i in range(backends):
            yield named("v1", "Service", f"b{i}", spec={"clusterIP": "None", "ports": [{"name": "p", "port": spec.backend}]})
            yield {
                "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
                "metadata": {"name": f"b{i}", "labels": {"kubernetes.io/service-name": f"b{i}"}},
                "addressType": "IPv4", "ports": [{"name": "p", "port": spec.backend}],
                "endpoints": [{"addresses": ["127.0.0.1"], "conditions": {"ready": True}}],
            }
            hosts = spec.hosts[i::backends]
            for k in range(0, max(1, len(hosts)), HOSTS_A_ROUTE):
                route = {"parentRefs": [{"name": "bench"}], "rules": [{"backendRefs": [{"name": f"b{i}", "port": spec.backend}]}]}
                if hosts:
                    route["hostnames"] = hosts[k:k + HOSTS_A_ROUTE]
                yield named(GATEWAY_API, "HTTPRoute" if http else "TCPRoute", f"r{i}-{k}", spec=route)

    def files(self, spec):
        return [f"{spec.dir}/config/bench.yaml"]

    def scrape(self, spec):
        return get_over_unix(f"{spec.dir}/admin.sock", "/metrics")


adapters = [Weirgate()]
