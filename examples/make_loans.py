"""Write loans.csv, the synthetic table that the README uses. The same seed gives the same file.

Whether a loan is repaid depends on ranges: medium debt ratios and ages are better than low or high ones.
An ordinary tree needs two nodes for a range, and a shape-generalized tree needs one.

Run it with `python examples/make_loans.py`.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

ROWS = 600
SEED = 20
TARGET = Path(__file__).with_name("loans.csv")
JOBS = ("salaried", "self-employed", "unemployed")
SHARES = (0.66, 0.24, 0.10)


def loans(rows: int = ROWS, seed: int = SEED) -> list[dict[str, object]]:
    """Return the rows of the table."""
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(43, 15, rows), 18, 84).astype(int)
    employment = np.where(
        (age >= 64) & (rng.random(rows) < 0.85),
        "retired",
        np.where((age < 27) & (rng.random(rows) < 0.55), "student", rng.choice(JOBS, rows, p=SHARES)),
    )
    income = np.round(np.exp(rng.normal(3.6, 0.45, rows)), 1)  # in thousands per year
    debt_ratio = np.round(rng.gamma(3.0, 0.13, rows), 3)
    amount = np.round(rng.gamma(2.5, 4.0, rows) + 1, 1)  # in thousands
    years_at_address = rng.poisson(6, rows)
    earlier_loans = rng.poisson(1.4, rows)
    has_savings = rng.random(rows) < 0.45

    steady = np.isin(employment, ("salaried", "retired"))
    used_to_debt = (debt_ratio > 0.22) & (debt_ratio < 0.5)
    settled = (age > 29) & (age < 58)
    burden = amount / income
    good = np.where(
        used_to_debt,
        np.where(settled, burden < 0.62, steady & has_savings),
        np.where(steady, (income > 27) & (income < 60), settled & (earlier_loans > 0) & (earlier_loans < 3)),
    )
    repaid = good ^ (rng.random(rows) < 0.09)

    def cell(value: object, missing: object) -> object:
        return "" if missing else value

    missing = rng.random((3, rows)) < np.array([[0.06], [0.04], [0.05]])
    return [
        {
            "age": int(age[i]),
            "income": cell(float(income[i]), missing[0, i]),
            "debt_ratio": float(debt_ratio[i]),
            "amount": float(amount[i]),
            "employment": cell(str(employment[i]), missing[1, i]),
            "years_at_address": cell(int(years_at_address[i]), missing[2, i]),
            "earlier_loans": int(earlier_loans[i]),
            "has_savings": "true" if has_savings[i] else "false",
            "repaid": "yes" if repaid[i] else "no",
        }
        for i in range(rows)
    ]


def main() -> None:
    rows = loans()
    with TARGET.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
