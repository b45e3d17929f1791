"""The errors of this project: each says what was found, where, and what to write instead."""


class JudgeBiasError(Exception):
    """Base of every error that a user can cause and mend."""


class ConfigError(JudgeBiasError):
    """A setting is unknown, of the wrong type, or at odds with another."""


class DataError(JudgeBiasError):
    """An input file does not hold what it should; names file, row and column."""


class FetchError(JudgeBiasError):
    """A file could not be obtained, or is not the file that config names."""


class DesignError(JudgeBiasError):
    """A spec cannot be fitted to the rows it selects."""


class DiskError(JudgeBiasError):
    """A disk is full; names the place."""
