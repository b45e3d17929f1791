"""Audits: experiments on judges, which see the same answers with one thing changed."""

from recuse.base.products import Product

PRODUCT = Product("audit", commands="recuse.audit.command:add_commands")
