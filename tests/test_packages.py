"""The packages of the library: what may import what, in one form that rules follow, and how large
each may be.
"""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path
from pkgutil import resolve_name

import yaml

from conftest import ROOT
from recuse.products import PRODUCTS as REGISTERED
from recuse.workflow.rules import code_files

LIBRARY = ROOT / "workflow" / "lib" / "recuse"
SCRIPTS = ROOT / "workflow" / "scripts"
# A package of the core imports only itself and those before it.
CORE = (
    "base",
    "data",
    "model",
    "inference",
    "pairwise",
    "simulate",
    "config",
    "check",
    "report",
    "plot",
)
CORE += ("catalogue", "steps", "inputs", "pipeline", "results", "arguments")
CORE += ("objects", "commands")
# A product imports the core, and of the other products only those that it names here.
PRODUCTS = {
    "imports": (),
    "collect": ("imports",),
    "papers": ("imports",),
    "validation": (),
    "audit": ("imports", "collect", "papers"),
}
WORKFLOW = "workflow"  # touches Snakemake; only scripts, rules and entry points import it
LIST = "products"  # imports the descriptions of the products, and nothing else
ENTRY_POINTS = ("api", "cli", "__main__", "__init__")


@cache
def parsed(path):
    """The imports of a file, also those inside functions, its constants, and the number of its
    nodes. The nodes themselves are not kept, as garbage collection would take long to go through.
    """
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    imports = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
    texts = [str(node.value) for node in nodes if isinstance(node, ast.Constant)]
    return imports, texts, len(nodes)


def imports(path):
    return parsed(path)[0]


def modules(node):
    """The modules that an import names."""
    if isinstance(node, ast.ImportFrom):
        assert not node.level, "a relative import"
        return [node.module]
    return [alias.name for alias in node.names]


def names(node):
    """The modules of the library that an import names."""
    return [module for module in modules(node) if module.split(".")[0] == "recuse"]


def module_at(path):
    """The name of a module of the library, without `recuse`."""
    return ".".join(path.relative_to(LIBRARY).with_suffix("").parts)


def package_from(module):
    """The package of a module, or the module itself if it is in none."""
    return module.split(".")[0]


def may_import(module, other):
    """Whether a module may import another one."""
    importer, imported = package_from(module), package_from(other)
    if importer == imported:
        return True
    if importer in ENTRY_POINTS:
        return imported not in PRODUCTS
    if importer == LIST:
        return imported in PRODUCTS and other.endswith(".product")
    if importer == WORKFLOW:
        return imported in CORE
    if importer in CORE:
        return imported in CORE and CORE.index(imported) < CORE.index(importer)
    return imported in CORE or imported in PRODUCTS[importer]


def test_every_package_has_its_place():
    places = {package_from(module_at(path)) for path in LIBRARY.rglob("*.py")}
    assert places == {*CORE, *PRODUCTS, WORKFLOW, LIST, *ENTRY_POINTS}


def test_the_core_imports_no_product_and_packages_only_those_before_them():
    for path in LIBRARY.rglob("*.py"):
        imported = [name for node in imports(path) for name in names(node)]
        others = [name.removeprefix("recuse.") for name in imported]
        refused = [other for other in others if not may_import(module_at(path), other)]
        assert refused == [], path


def registered_names(product):
    """Every `module:function` that a product registers."""
    return re.findall(r"'([^']+:[^']+)'", repr(product))


def test_what_products_register_is_theirs_and_there():
    for product in REGISTERED:
        for name in registered_names(product):
            assert name.startswith(f"recuse.{product.name}."), name
            resolve_name(name)


def test_the_core_names_no_product():
    """Nor in a text, by which a module could be loaded."""
    for path in LIBRARY.rglob("*.py"):
        if package_from(module_at(path)) in CORE:
            for product in PRODUCTS:
                named = [text for text in parsed(path)[1] if text.startswith(f"recuse.{product}.")]
                assert named == [], path


def test_no_script_reads_what_is_registered():
    """A rule gives its script the names of what to load, so that their modules are among its
    code.
    """
    for script in SCRIPTS.glob("*.py"):
        assert not any(path.endswith("recuse/products.py") for path in code_files(script.name)), (
            script
        )


def test_every_import_is_one_that_the_rules_follow():
    """Rules find a module by `from recuse.package.module import name`; another form would not rerun
    what uses it.
    """
    for path in [*SCRIPTS.glob("*.py"), *LIBRARY.rglob("*.py")]:
        for node in imports(path):
            assert isinstance(node, ast.ImportFrom) or not names(node), path
            assert not getattr(node, "level", 0), path
            for module in names(node):  # not a package, whose code the rules would not find
                assert (LIBRARY.parent / module.replace(".", "/")).with_suffix(".py").is_file(), (
                    path
                )


def sizes():
    """AST nodes by package, which formatting does not change; modules in no package count together
    as `recuse`.
    """
    counted = Counter()
    for path in LIBRARY.rglob("*.py"):
        parts = path.relative_to(LIBRARY).parts
        package = parts[0] if len(parts) > 1 else "recuse"
        counted[package] += parsed(path)[2] if path.stat().st_size else 0
    return counted


def test_every_package_is_within_its_budget():
    budgets = yaml.safe_load(Path(__file__).with_name("budgets.yaml").read_text("utf-8"))
    counted = sizes()
    assert budgets.keys() == counted.keys()
    for package, size in counted.items():
        assert size <= budgets[package], (
            f"{package} has {size:,} AST nodes, {size - budgets[package]:,} more than its budget"
            " in tests/budgets.yaml. Take out as much elsewhere in the package, or raise the"
            " budget and say in the commit message what went instead."
        )


# What Snakemake does not document is read in few places, and replaced in none.
READ_OF_WORKFLOW = {"basedir", "current_basedir", "modifier", "overwrite_configfiles"}


def test_only_verify_the_plugin_and_the_snakefile_know_snakemake():
    folders = (LIBRARY, LIBRARY.with_name("snakemake_logger_plugin_recuse"))
    importing = set()
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        imported = [module for node in imports(path) for module in modules(node)]
        if any(module.startswith("snakemake") for module in imported):
            importing.add(str(path.relative_to(LIBRARY.parent)))
    assert importing == {"recuse/workflow/verify.py", "snakemake_logger_plugin_recuse/__init__.py"}
    rules = [
        ROOT / "Snakefile",
        ROOT / "workflow" / "Snakefile",
        *(ROOT / "workflow" / "rules").glob("*.smk"),
    ]
    text = "\n".join(path.read_text("utf-8") for path in rules)
    assert set(re.findall(r"(?<![\w/.])workflow\.(\w+)", text)) - {"rst"} == READ_OF_WORKFLOW
    assert not re.search(r"(?<![\w/])(workflow|rules)\.[\w.]+ = ", text)
