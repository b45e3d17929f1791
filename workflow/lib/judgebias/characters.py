"""Characters that no text of a study may hold."""

import re

# In no table (NUL, surrogates) or in no drawing (XML 1.0).
UNWRITABLE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
