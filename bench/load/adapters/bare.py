"""The floor: a relay that parses nothing. Not a product."""
import os

from kit import settings
from .base import Adapter, Spec


class Bare(Adapter):
    name, product = "bare", False
    kinds = frozenset({"http", "tcp"})
    modes = {"http": "pool", "tcp": "copy"}

    def version(self):
        return "relay without parsing, " + " / ".join(dict.fromkeys(self.modes.values()))

    def configure(self, spec: Spec):
        origin = spec.backend_ignoring_close if spec.kind == "http" else spec.backend
        return [os.environ["BENCH_TOOLS"] + "/relay", self.modes[spec.kind], str(spec.port), str(origin), str(settings.PIPE_BYTES)]


class BareSplice(Bare):
    name = "bare-splice"
    modes = {"http": "pool-splice", "tcp": "splice"}

    def version(self):
        return f"{super().version()}, pipes of {settings.PIPE_BYTES // 1024} kB"


adapters = [Bare(), BareSplice()]
