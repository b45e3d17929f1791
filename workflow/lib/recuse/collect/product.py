"""Collecting: asking judges for ratings or verdicts, which their study then imports."""

from recuse.base.products import Product

PRODUCT = Product(
    "collect",
    settings={
        "studies.collect": "recuse.collect.settings:Collect",
        "comparisons.collect": "recuse.collect.settings:Collect",
    },
    completes="recuse.collect.imported:with_imports",
    reads={"collect": "recuse.collect.inputs:collected"},
    commands="recuse.collect.command:add_collect_command",
)
