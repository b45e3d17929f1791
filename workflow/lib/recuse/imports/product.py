"""Imports: ratings and verdicts in the files of other tools, or in tables with columns of any
names.
"""

from recuse.base.products import Product

PRODUCT = Product(
    "imports",
    settings={
        "studies.import": "recuse.imports.settings:ImportOfRatings",
        "comparisons.import": "recuse.imports.settings:ImportOfVerdicts",
    },
    reads={"import": "recuse.imports.inputs:imported"},
    ranges="recuse.imports.inputs:ranges",
    commands="recuse.imports.command:add_commands",
)
