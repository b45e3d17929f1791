"""What the t or the normal distribution says of an estimate and its standard error."""

import math
from statistics import NormalDist


def quantile(confidence: float, df: float = math.inf) -> float:
    """Half the width of an interval in standard errors: the (1 + confidence) / 2 quantile of t with `df` degrees of freedom.

    >>> round(quantile(0.90), 4), round(quantile(0.90, 29), 4)
    (1.6449, 1.6991)
    """
    if math.isinf(df):
        return NormalDist().inv_cdf((1 + confidence) / 2)
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + confidence) / 2))


def wald_p_value(value: float, error: float, df: float = math.inf) -> float:
    """Two-sided p-value of the hypothesis that the estimated quantity is 0: 2 T(-|value / error|), T of t with `df`.

    Of infinitely many degrees of freedom, the normal distribution: erfc(|value / error| / sqrt 2).

    >>> round(wald_p_value(0.0196, 0.01), 4)
    0.05
    """
    if math.isinf(df):
        return math.erfc(abs(value / error) / math.sqrt(2))
    from scipy.special import stdtr

    return float(2 * stdtr(df, -abs(value / error)))


def wald_columns(estimate: float, std_error: float, *, df: float, confidence: float) -> dict[str, float]:
    """Columns of a table: estimate, std_error, df, ci_low, ci_high and p_value of the hypothesis of 0.

    The last four are missing where the standard error is 0 or unknown; df where it is infinite.
    """
    row = {"estimate": float(estimate), "std_error": float(std_error)}
    if std_error > 0:
        half = quantile(confidence, df) * row["std_error"]
        row |= {"ci_low": row["estimate"] - half, "ci_high": row["estimate"] + half}
        row["p_value"] = wald_p_value(row["estimate"], row["std_error"], df)
        row |= {"df": df} if math.isfinite(df) else {}
    return row
