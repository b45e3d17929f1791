"""Audits: experiments on a judge, by treatments of the answers that it is shown."""

from recuse.base.products import Product

PRODUCT = Product("audit", commands="recuse.audit.command:add_commands")
