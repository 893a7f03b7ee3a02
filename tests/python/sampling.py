"""The part of a long family of cases that one run of the tests takes; tests/support/sampling.h says which part."""

import os
import time

ALL = os.environ.get("NBCC_TEST_ALL", "") not in ("", "0")
NUMBER = int(os.environ.get("NBCC_TEST_SEED") or time.time() // 86400)
SAYS = (
    "NBCC_TEST_ALL is set: every case of the long families"
    if ALL
    else f"NBCC_TEST_SEED={NUMBER} chooses the cases of the long families; NBCC_TEST_ALL=1 takes all"
)


def sampled(cases, period, turn=0):
    cases = list(cases)
    period = min(period, len(cases))
    return [case for k, case in enumerate(cases) if ALL or (k + turn + NUMBER) % period == 0]
