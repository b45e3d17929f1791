"""Collecting from a server on this machine that answers by a plan: throughput, faults by reason,
kills at random moments.

    python benchmarks/collect.py speed [--requests 10000] [--latency 0.2] [--concurrency 32 64]
    python benchmarks/collect.py faults [--requests 1000] [--share 0.2]
    python benchmarks/collect.py kills [--requests 500] [--kills 20] [--seed 1]

The ideal of `speed` is concurrency / latency, without any time for the client's and the server's
own work; both have a process of their own. `faults` fails if a reason was counted other than the
server did it, `kills` if an answer was lost, if one that was stored was asked for again, or if the
answers are not those of a run without kills.
"""

import sys

from processes import ROOT, measure, print_machine, print_table, run_step_or, step_from

sys.path.insert(0, str(ROOT / "tests"))  # for the server and the plan of the tests


def run(
    url: str, requests: str, concurrency: str, path: str, attempts: str = "5", timeout: str = "30"
) -> None:
    """Collect in this process, and print what was done."""
    import json

    from collecting import plan
    from recuse.collect.ledger import Ledger
    from recuse.collect.run import collect

    text = {"max_tokens": 20, "user": "x" * 2000}  # as long as a short answer to be rated
    asked = plan(
        url,
        int(requests),
        concurrency=int(concurrency),
        body=text,
        attempts=int(attempts),
        timeout=float(timeout),
    )
    with Ledger(path) as ledger:
        print("open", flush=True)
        outcome = collect(asked, ledger, wait=0.05)
    print(json.dumps(vars(outcome) | {"missing": outcome.missing}))


def serve(latency: str) -> None:
    """Print the address of a server, and answer until this process is ended."""
    import threading

    from mock_server import Mock

    with Mock() as mock:
        mock.latency = float(latency)
        print(mock.url, flush=True)
        threading.Event().wait()


def speed(given) -> None:
    """Requests of equal latency, without faults."""
    import json
    import os
    import subprocess
    import tempfile

    rows = []
    for concurrency in given.concurrency:
        command = step_from(__file__, "serve", str(given.latency))
        with (
            tempfile.TemporaryDirectory() as folder,
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
        ):
            url = server.stdout.readline().strip()
            path = os.path.join(folder, "ledger.jsonl")
            measured = measure(
                step_from(__file__, "run", url, str(given.requests), str(concurrency), path)
            )
            server.terminate()
            size = os.path.getsize(path) / 2**20
        outcome = json.loads(measured.printed.splitlines()[-1])
        if outcome["answered"] != given.requests or outcome["asked"] != given.requests:
            raise SystemExit(f"not every request was asked once and answered: {outcome}")
        rate, ideal = given.requests / outcome["seconds"], concurrency / given.latency
        numbers = (
            f"{rate:.0f}",
            f"{rate / ideal:.2f}",
            f"{measured.processor:.1f}",
            f"{measured.peak:.0f}",
            f"{size:.0f}",
        )
        rows.append([str(concurrency), f"{outcome['seconds']:.1f}", *numbers])
    print_table(
        ["at once", "s", "answers/s", "to the ideal", "cpu s", "peak MiB", "ledger MiB"], rows
    )


def faults(given) -> None:
    """A share of requests that fail in each way, counted by both sides."""
    import contextlib
    import io
    import json
    import os
    import tempfile
    from collections import Counter

    from mock_server import FAULTS, REASONS, Mock
    from recuse.collect import client

    client.LARGEST = 1 << 17  # bytes, which the server's huge responses exceed
    with tempfile.TemporaryDirectory() as folder, Mock(seed=given.seed) as mock:
        mock.latency, mock.share = 0.05, given.share
        path = os.path.join(folder, "ledger.jsonl")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            run(mock.url, given.requests, 16, path, attempts="12", timeout="2")
        outcome = json.loads(printed.getvalue().splitlines()[-1])
        did = Counter()
        for fault in FAULTS:
            did[REASONS[fault]] += mock.done[fault]
        rows = [[reason, str(did[reason]), str(outcome["failed"].get(reason, 0))] for reason in did]
        rows.append(["answers", str(mock.done["answered"]), str(outcome["answered"])])
    print_table(["", "server", "collection"], rows)
    if any(server != collection for _, server, collection in rows) or outcome["missing"]:
        raise SystemExit("the counts differ")


def kills(given) -> None:
    """Processes killed at random moments, and a last one that ends."""
    import contextlib
    import os
    import random
    import subprocess
    import tempfile
    import time
    from collections import Counter

    from mock_server import Mock
    from recuse.base.log import listening
    from recuse.collect.ledger import answers_in

    def answers(path):
        with listening():  # a kill may cut a line off
            kept = answers_in(path).values()
            return {entry.asked["messages"][-1]["content"]: entry.response for entry in kept}

    seed, concurrency = random.Random(given.seed), 8
    with tempfile.TemporaryDirectory() as folder, Mock() as mock:
        mock.latency = 0.1
        undisturbed, path = (
            os.path.join(folder, name) for name in ("undisturbed.jsonl", "ledger.jsonl")
        )
        with contextlib.redirect_stdout(None):
            run(mock.url, given.requests, concurrency, undisturbed)
        mock.seen.clear()
        kept, asked, again, lost = {}, Counter(), 0, 0
        for _ in range(given.kills):
            command = step_from(
                __file__, "run", mock.url, str(given.requests), str(concurrency), path
            )
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                target = sum(mock.seen.values()) + seed.randint(
                    0, 2 * given.requests // given.kills
                )
                while sum(mock.seen.values()) < target and process.poll() is None:
                    time.sleep(0.001)
                time.sleep(seed.uniform(0.0, 0.1))
                process.kill()
            again += sum(mock.seen[text] != asked[text] for text in kept)
            before, kept, asked = kept, answers(path), Counter(mock.seen)
            lost += sum(kept.get(text) != response for text, response in before.items())
        measure(step_from(__file__, "run", mock.url, str(given.requests), str(concurrency), path))
        after = answers(path)
        stored = len(kept)
        again += sum(mock.seen[text] != asked[text] for text in kept)
        twice = sum(number - 1 for number in mock.seen.values())
        lost += sum(after.get(text) != response for text, response in kept.items())
        same = after == answers(undisturbed)
    rows = [
        ["kills", str(given.kills)],
        ["answers stored at the last kill", f"{stored} of {given.requests}"],
        ["of these, lost", str(lost)],
        ["asked again after their answer was stored", str(again)],
        [
            "asked again as they were under way at a kill",
            f"{twice} of at most {given.kills * concurrency}",
        ],
        ["answers the same as without kills", "yes" if same else "no"],
    ]
    print_table(["requests", str(given.requests)], rows)
    if lost or again or not same or twice > given.kills * concurrency:
        raise SystemExit("an answer was lost or asked for again")


def main() -> None:
    """Print one of the tables."""
    import argparse

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["speed", "faults", "kills"])
    parser.add_argument("--requests", type=int)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[32, 64])
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    table, usual = {"speed": (speed, 10_000), "faults": (faults, 1_000), "kills": (kills, 500)}[
        given.what
    ]
    given.requests = given.requests or usual
    print_machine(("httpx2",))
    table(given)


if __name__ == "__main__":
    run_step_or(main, {"run": run, "serve": serve})
