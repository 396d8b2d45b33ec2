"""Figures to words: a table of all peers, then the subject's ratios within rounds against each bar."""
import statistics

from .scenarios import SCENARIOS

BARE = ("bare", "bare-splice")
ENOUGH_OF_BARE = 0.95  # a bar beyond this share of the parse-nothing relay is reported, not required


def short(x):
    if x is None:
        return "-"
    return f"{x:,.0f}" if abs(x) >= 100 else f"{x:.1f}" if abs(x) >= 10 else f"{x:.3g}"


def spread(values):
    """Median, quartiles, extremes as words."""
    if len(values) < 4:
        return f"{min(values):.2f}–{max(values):.2f}"
    low, _, high = statistics.quantiles(values, n=4)
    return f"{low:.2f}–{high:.2f} ({min(values):.2f}–{max(values):.2f})"


def ratios(rows, subject, against):
    """Within each round, the subject to the best of the named peers that were measured in it."""
    found = []
    for number, mine in rows.get(subject, {}).items():
        others = [rows[peer][number]["work_per_cpu_second"] for peer in against if number in rows.get(peer, {})]
        if others and max(others) > 0:
            found.append(mine["work_per_cpu_second"] / max(others))
    return found


def failures(rounds):
    total = {}
    for figures in rounds.values():
        for name, count in figures.get("failures", {}).items():
            total[name] = total.get(name, 0) + count
    return ", ".join(f"{name} {count}" for name, count in total.items())


def median(rounds, key):
    values = [figures[key] for figures in rounds.values() if figures.get(key) is not None]
    return statistics.median(values) if values else None


def print_scenario(code, rows, peers, subject):
    """rows: peer → round number → figures."""
    scenario = SCENARIOS[code]
    count = max(len(rounds) for rounds in rows.values())
    print(f"\n### {code}: {scenario.title}\n\nMedians of {count} interleaved round{'s' * (count != 1)}.\n")
    if "work_per_cpu_second" in next(iter(next(iter(rows.values())).values())):
        print_work(scenario, rows, peers)
        print_ratios(scenario, rows, peers, subject)
    else:
        print_values(scenario, rows, peers, subject)


def print_work(scenario, rows, peers):
    unit, each = scenario.unit, "ms a GB" if scenario.unit == "GB" else f"µs a {scenario.unit}"
    print(f"| peer | {unit} per CPU-s | CPU {each} | user share | {unit}/s | p50 µs | p99 µs | p99.9 µs | memory MB | failures |")
    print("|---" * 10 + "|")
    for peer in peers:
        if peer not in rows:
            continue
        rounds = rows[peer]
        cost = median(rounds, "cpu_us") / (1000 if unit == "GB" else 1)
        latency = [short(median(rounds, q)) if unit != "GB" else "-" for q in ("p50", "p99", "p999")]
        print(f"| {peer} | {short(median(rounds, 'work_per_cpu_second'))} | {short(cost)} | {100 * median(rounds, 'user_share'):.0f} % | "
              f"{short(median(rounds, 'rate'))} | {' | '.join(latency)} | {short(median(rounds, 'memory') / 1e6)} | {failures(rounds) or 'none'} |")


def print_ratios(scenario, rows, peers, subject):
    if subject not in rows or len(rows) < 2:
        return
    print(f"\n| {subject} against | median ratio | quartiles (extremes) | bar | verdict |\n" + "|---" * 5 + "|")
    for peer in peers:
        found = ratios(rows, subject, (peer,)) if peer != subject else []
        if found:
            print(f"| {peer} | {statistics.median(found):.2f} | {spread(found)} | | |")
    for bar in scenario.bars:
        others = [peer for peer in bar.against if peer in rows and peer != subject]
        found = ratios(rows, subject, others)
        if not found:
            continue
        name = others[0] if len(others) == 1 else f"the better of {' and '.join(others)}"
        goal = f", goal {bar.goal}" if bar.goal else ""
        print(f"| **{name}** | **{statistics.median(found):.2f}** | {spread(found)} | ≥ {bar.least}{goal} | {judge(bar, found, rows, subject, others)} |")


def judge(bar, found, rows, subject, others):
    """The verdict on one bar as words."""
    value = statistics.median(found)
    bad = failures(rows[subject])
    if bad:
        return f"FAILED requests: {bad}"
    missing = [peer for peer in bar.against if peer not in rows]
    words = "passes" if value >= bar.least else "MISSED"
    if bar.goal and value >= bar.goal:
        words = "passes, goal reached"
    reachable = ENOUGH_OF_BARE * floor(rows, others)
    if words == "MISSED" and 0 < reachable < bar.least:
        words = f"reported only: {ENOUGH_OF_BARE} of the relay is {reachable:.2f}"
    return words + (f" (not measured: {', '.join(missing)})" if missing else "")


def floor(rows, others):
    """The best relay's median ratio to the others; 0 without one."""
    return max((statistics.median(mine) for relay in BARE if (mine := ratios(rows, relay, others))), default=0.0)


def print_values(scenario, rows, peers, subject):
    print(f"| peer | {scenario.unit} | least–most | memory MB | note |\n" + "|---" * 5 + "|")
    for peer in peers:
        if peer not in rows:
            continue
        rounds = rows[peer]
        values = [figures["value"] for figures in rounds.values()]
        note = "; ".join(x for x in (failures(rounds), rounds[max(rounds)].get("note", "")) if x)
        print(f"| {peer} | {short(statistics.median(values))} | {short(min(values))}–{short(max(values))} | {short(median(rounds, 'memory') / 1e6)} | {note} |")
    if scenario.most is not None and subject in rows:
        value = median(rows[subject], "value")
        print(f"\nBar for {subject}: < {scenario.most:g} {scenario.unit}. {'Passes' if value < scenario.most else 'MISSED'} with {short(value)}.")
