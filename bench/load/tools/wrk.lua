-- One JSON line for the runner.
done = function(s, latency)
  io.write(string.format(
    '{"secs":%.3f,"done":%d,"bytes":%d,"connect":%d,"lost":%d,"status":%d,"timeout":%d,"p50":%.1f,"p99":%.1f,"p999":%.1f}\n',
    s.duration / 1e6, s.requests, s.bytes, s.errors.connect, s.errors.read + s.errors.write, s.errors.status,
    s.errors.timeout, latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end
