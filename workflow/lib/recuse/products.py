"""The products, all in one list: the entry points alone import it, and register it with the core.

The order is that of the commands. A study is read by the first product that reads one of its keys:
`collect` before `import`, since the answers of judges are imported.
"""

from recuse.audit.product import PRODUCT as AUDIT
from recuse.collect.product import PRODUCT as COLLECT
from recuse.imports.product import PRODUCT as IMPORTS
from recuse.papers.product import PRODUCT as PAPERS

PRODUCTS = (COLLECT, AUDIT, IMPORTS, PAPERS)
