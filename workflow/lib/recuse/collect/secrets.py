"""Keys of servers: read from the environment, and taken out of whatever is stored or shown."""

import base64
import json
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from recuse.base.errors import ConfigError
from recuse.collect.requests import Endpoint

# Characters of a key that is taken out of texts; a shorter one, like `none`, is a placeholder and a
# word
SHORTEST = 8


class Secrets:
    """The keys of endpoints by their environment variables."""

    def __init__(self, endpoints: Iterable[Endpoint], environment: Mapping[str, str]) -> None:
        """Read the keys; ConfigError, which names the variable but not its value, if one is absent
        or cannot be sent.
        """
        self._keys: dict[str, str] = {}
        for endpoint in endpoints:
            if endpoint.key is not None:
                self._keys[endpoint.key] = _key_in(endpoint, environment)
        self._forms = {
            form: f"[{name}]"
            for name, key in self._keys.items()
            if len(key) >= SHORTEST
            for form in (
                key,
                json.dumps(key)[1:-1],
                quote(key, safe=""),
                base64.b64encode(key.encode()).decode().rstrip("="),
            )
        }

    def key_for(self, endpoint: Endpoint) -> str | None:
        """The key of an endpoint; None if its server needs none."""
        return None if endpoint.key is None else self._keys[endpoint.key]

    def removed(self, value: object) -> object:
        """A JSON value with the name of its variable instead of each key, also in base64, or quoted
        for JSON or a URL.
        """
        if not self._forms:
            return value
        if isinstance(value, str):
            for form, name in self._forms.items():
                value = value.replace(form, name)
            return value
        if isinstance(value, Mapping):
            return {self.removed(name): self.removed(each) for name, each in value.items()}
        return [self.removed(each) for each in value] if isinstance(value, (list, tuple)) else value


def _key_in(endpoint: Endpoint, environment: Mapping[str, str]) -> str:
    key = environment.get(endpoint.key, "")
    where = f"collect: {endpoint.name}: the environment variable {endpoint.key}"
    if not key:
        raise ConfigError(
            f"{where} is not set; put the key of {endpoint.base_url or 'the server'} there: export"
            f" {endpoint.key}=..."
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            f"{where} has a space, a line break or another character that no key has; set it to the"
            " key alone"
        )
    return key
