"""The packages of the library: one order in which they build on each other, and one form of import, which rules follow."""

import ast
import re

from conftest import ROOT

LIBRARY = ROOT / "workflow" / "lib" / "recuse"
SCRIPTS = ROOT / "workflow" / "scripts"
# A package imports only itself and those before it.
ORDER = (
    *(
        "base",
        "data",
        "model",
        "inference",
        "collect",
        "pairwise",
        "published",
        "simulate",
        "montecarlo",
        "crosscheck",
        "config",
        "check",
    ),
    *("report", "plot", "catalogue", "inputs", "arguments", "objects", "api", "cli", "__main__", "__init__"),
)


def imports(path):
    """The imports of a file of whatever form, also those inside functions."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]


def names(node):
    """The modules of the library that an import names."""
    modules = [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    return [module for module in modules if module.split(".")[0] == "recuse"]


def package_of(path):
    return path.relative_to(LIBRARY).with_suffix("").parts[0]


def test_every_package_has_its_place():
    assert {package_of(path) for path in LIBRARY.rglob("*.py")} == {*ORDER}


def test_packages_build_on_those_before_them_alone():
    backwards = [
        f"{path.relative_to(LIBRARY)}: {module}"
        for path in LIBRARY.rglob("*.py")
        for node in imports(path)
        for module in names(node)
        if ORDER.index(module.split(".")[1]) > ORDER.index(package_of(path))
    ]
    assert backwards == []


def test_every_import_is_one_that_the_rules_follow():
    """Rules find a module by `from recuse.package.module import name`; another form would not rerun what uses it."""
    for path in [*SCRIPTS.glob("*.py"), *LIBRARY.rglob("*.py")]:
        for node in imports(path):
            assert isinstance(node, ast.ImportFrom) or not names(node), path
            assert not getattr(node, "level", 0), path
            for module in names(node):  # not a package, whose code the rules would not find
                assert (LIBRARY.parent / module.replace(".", "/")).with_suffix(".py").is_file(), path


# What Snakemake does not document is read in few places, and replaced in none.
READ_OF_WORKFLOW = {"basedir", "current_basedir", "modifier", "overwrite_configfiles"}


def test_only_verify_the_plugin_and_the_snakefile_know_snakemake():
    folders = (LIBRARY, LIBRARY.with_name("snakemake_logger_plugin_recuse"))
    importing = set()
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        modules = [alias.name for node in imports(path) if isinstance(node, ast.Import) for alias in node.names]
        modules += [node.module or "" for node in imports(path) if isinstance(node, ast.ImportFrom)]
        if any(module.split(".")[0].startswith("snakemake") for module in modules):
            importing.add(str(path.relative_to(LIBRARY.parent)))
    assert importing == {"recuse/base/verify.py", "snakemake_logger_plugin_recuse/__init__.py"}
    rules = [ROOT / "Snakefile", ROOT / "workflow" / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]
    text = "\n".join(path.read_text("utf-8") for path in rules)
    assert set(re.findall(r"(?<![\w/])workflow\.(\w+)", text)) - {"rst"} == READ_OF_WORKFLOW
    assert not re.search(r"(?<![\w/])(workflow|rules)\.[\w.]+ = ", text)
