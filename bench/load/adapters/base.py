"""What an adapter is: one way to run one proxy."""
import os
import shutil
import signal
import socket
import subprocess
from dataclasses import dataclass, field


@dataclass
class Spec:
    """What the proxy under test has to do, in no product's words."""
    kind: str                  # "http" or "tcp"
    port: int                  # listens on 127.0.0.1:port
    backend: int               # sends to 127.0.0.1:backend
    dir: str                   # a folder of its own for configuration, logs and sockets
    hosts: list = field(default_factory=list)  # host names routed to the backend; empty: every name
    access_log: bool = False   # one line a request into a file of dir
    workers: int = 1
    backend_ignoring_close: int = 0  # only for the relay, which cannot take "Connection: close" out of a head


class Adapter:
    name = ""
    kinds = frozenset()
    product = True             # False: a relay, left out where it makes no sense

    def version(self) -> str:
        raise NotImplementedError

    def missing(self) -> str:
        """Why this peer can't run here, or ""."""
        return ""

    def configure(self, spec: Spec) -> list:
        """Writes the configuration into spec.dir; returns the command that runs the proxy in the foreground."""
        raise NotImplementedError

    def files(self, spec: Spec) -> list:
        """Configuration files worth showing beside a result."""
        return []

    def reload(self, process: subprocess.Popen, spec: Spec):
        """Makes the running proxy take over spec without losing a connection."""
        self.configure(spec)
        os.kill(process.pid, signal.SIGHUP)

    def scrape(self, spec: Spec) -> int:
        """Reads the metrics once, as a monitoring system would; bytes of the answer, 0 for a peer that has none."""
        return 0


def binary(variable, *defaults):
    """The program named by the environment variable, else the first default that exists, else ""."""
    for candidate in [os.environ.get(variable), *defaults]:
        found = candidate and shutil.which(candidate)
        if found:
            return found
    return ""


def put(path, text):
    with open(path + ".new", "w") as f:
        f.write(text)
    os.rename(path + ".new", path)
    return path


def output(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    return (result.stdout + result.stderr).strip()


def get_over_unix(path, target):
    """Bytes of the answer to GET target; raises OSError when nobody answers with 200."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
        s.settimeout(5)
        s.connect(path)
        s.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while part := s.recv(65536):
            answer += part
    if not answer.split(b"\r\n", 1)[0].endswith(b"200 OK"):
        raise OSError(f"metrics: {answer[:80]!r}")
    return len(answer)
