"""`python -P -m recuse <command>`: the same as the command `recuse`; -P: no module in the working
folder is imported.
"""

from recuse.cli import command

command()
