"""What schemathesis must know about the server beyond its description."""

import schemathesis


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: schemathesis.Case, kwargs: dict) -> None:
    """A memory of gigabytes is a fair request, but not one for a test."""
    if isinstance(case.body, dict) and isinstance(case.body.get("memory"), int):
        case.body["memory"] = min(case.body["memory"], 1 << 22)
