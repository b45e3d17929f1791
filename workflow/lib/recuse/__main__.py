"""`python -m recuse <command>`: the same as the command `recuse`."""

from recuse.cli import command

command()
