"""A collection in a process of its own: `python collecting.py settings.json`; prints its
outcome.
"""

import json
import resource
import sys

from recuse.collect.ledger import Ledger, LedgerEntry
from recuse.collect.requests import Endpoint, Price, Request
from recuse.collect.run import collect

# No test asks these judges.
HERE = "http://127.0.0.1:9/v1"
JUDGES = {
    "gpt": {"model": "gpt-x", "base_url": HERE},
    "claude": {"model": "claude-y", "base_url": HERE},
}


def plan(url, number, *, judge="judge", mode="text", body=None, **settings):
    """Requests `question 0`, `question 1`, ... to the server at `url`."""
    usual = {"key": None, "price": Price(1.0, 10.0), "concurrency": 8, "timeout": 10.0}
    endpoint = Endpoint(judge, "mock-1", url, **usual | settings)
    body = {"max_tokens": 20, **(body or {})}
    return [
        Request(endpoint, [{"role": "user", "content": f"question {each}"}], body, mode=mode)
        for each in range(number)
    ]


def entry_of_request(request, response, **others):
    """What a ledger holds of a request and the response to it."""
    usual = {"judge": request.endpoint.name, "started": "", "seconds": 0.1, "attempt": 1}
    return LedgerEntry(
        key=request.key,
        asked=request.identity,
        about=dict(request.about),
        response=response,
        **usual | others,
    )


def main(file):
    with open(file, encoding="utf-8") as text:
        settings = json.load(text)
    options = settings.pop("options", {})
    path = settings.pop("ledger")
    if "file_size" in options:  # bytes that a file may have
        resource.setrlimit(resource.RLIMIT_FSIZE, (options["file_size"], options.pop("file_size")))
    with Ledger(path) as ledger:
        print("open", flush=True)
        outcome = collect(plan(**settings), ledger, wait=0.01, **options)
    print(json.dumps(vars(outcome) | {"missing": outcome.missing}))


if __name__ == "__main__":
    main(sys.argv[1])
