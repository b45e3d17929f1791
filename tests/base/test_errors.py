"""What becomes of errors that are not this project's."""

import os
import signal
import threading

import pytest

from recuse.base.database import connect
from recuse.base.errors import UnexpectedError, in_one_sentence

ENDLESS = "select sum(a.range * b.range) from range(1000000) a, range(1000000) b"


def test_ctrl_c_within_duckdb_is_an_interrupt_and_no_fault():
    connection = connect()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt), in_one_sentence():
        connection.execute(ENDLESS).fetchall()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(UnexpectedError, match="Query interrupted"), in_one_sentence():
        raise RuntimeError("Query interrupted")
