"""Collecting: asking judges for ratings or verdicts, which their study then imports."""

from recuse.base.products import Product

PRODUCT = Product(
    "collect", reads={"collect": "recuse.collect.inputs:collected"}, commands="recuse.collect.command:add_commands"
)
