"""What products add to the core. The core imports no product: it knows only what each registers
here.

A product describes itself in its module `product`; `recuse.products` lists them all. The entry
points (the command, the Python API and the rules) register that list. Scripts do not: a rule gives
its script the names of what it is to load, and the modules of these names are among the code of the
rule.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

RATINGS, VERDICTS, RANKINGS, TEXTS = "ratings", "verdicts", "rankings", "texts"


@dataclass(frozen=True)
class Product:
    """A part of the project beside the core: plain values, and names of functions and classes,
    imported when they are used.

    A name is `module:function`, as `pkgutil.resolve_name` takes it, such as
    `recuse.imports.command:add_commands`.

    settings: key of the configuration, such as `studies.import` -> the class that checks what is
    under it.
    completes: the function that adds to a configuration, before it is checked, what follows from
    the product's keys. reads: key of a study -> the function that makes files of ratings or
    verdicts of what the key describes. It takes the inputs and a folder, and returns the inputs
    with these files.
    ranges: the function that finds the lowest and the highest rating of each dimension in files
    that `import` describes. sources: published source -> what it holds: RATINGS, VERDICTS, RANKINGS
    (made from verdicts) or TEXTS.
    readers: published source -> the function that gives the rows of its files of verdicts, as in
    recuse.pairwise.table. simulators: `studies` or `comparisons` -> the function that simulates
    such data as they were published. It takes the paths of published tables: for ratings, it
    returns the world to draw from; for comparisons, the votes and what is planted in them. tables:
    the mapping of `studies` and `comparisons` to tables of these, as in recuse.catalogue.tables.
    figures: the function of a study that gives figures, as in recuse.catalogue.figures.
    commands: the function that adds the product's commands to the command line.
    """

    name: str
    settings: Mapping[str, str] = field(default_factory=dict)
    completes: str = ""
    reads: Mapping[str, str] = field(default_factory=dict)
    ranges: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    readers: Mapping[str, str] = field(default_factory=dict)
    simulators: Mapping[str, str] = field(default_factory=dict)
    tables: str = ""
    figures: str = ""
    commands: str = ""


_registered: dict[str, Product] = {}


def register(products: Iterable[Product]) -> None:
    """Let the core use these products, in their order."""
    for product in products:
        _registered[product.name] = product


def registered() -> list[Product]:
    """The products that the core may use. LookupError before there are any: an entry point has to
    register them.
    """
    if not _registered:
        raise LookupError(
            "no product is registered; call recuse.base.products.register(recuse.products.PRODUCTS)"
            " first"
        )
    return [*_registered.values()]


def from_products(field_name: str) -> dict[str, str]:
    """What all products have in one of their mappings, such as `readers`."""
    merged = {}
    for product in registered():
        merged |= getattr(product, field_name)
    return merged


def published_sources() -> dict[str, str]:
    """The published sources with a manifest that a product reads, and what each holds: RATINGS,
    VERDICTS, RANKINGS or TEXTS.
    """
    return from_products("sources")
