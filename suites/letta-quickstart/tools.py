"""The tools of the Letta quickstart.

A Letta server runs a tool from its source alone, in a process of its own. So a function here holds
all that it needs, imports included, and its docstring tells the model what the parameters are.
"""


def lookup_release_train(service: str) -> str:
    """Look up the release train that a service leaves on.

    Args:
        service (str): The service's name, such as cart-api.

    Returns:
        str: The train, its release id and when it leaves, as JSON.
    """
    import json  # noqa: PLC0415  (the server knows nothing of this file but the function)

    trains = {
        "amber": ("rt_4f1c09a2b7d3e658", "Tuesday 14:00", ("cart-api", "rate-limiter")),
        "birch": (
            "rt_91be5d7730c4a2f6",
            "Tuesday 16:30",
            ("search-index", "login-portal", "push-gateway"),
        ),
        "cedar": ("rt_c85a3e10f96d27b4", "Wednesday 10:00", ("billing-core", "quote-engine")),
        "delta": ("rt_07d6f2481ca9e3b5", "Thursday 09:30", ("mail-relay", "stock-ledger")),
        "ember": ("rt_e32b64f8d5017a9c", "Friday 11:00", ("parcel-tracker",)),
    }
    for train, (release_id, leaves, services) in trains.items():
        if service in services:
            found = {"service": service, "train": train, "release_id": release_id}
            return json.dumps({**found, "leaves": leaves})
    # What a tool raises is told to the model as a failed result.
    raise LookupError(f"there is no service {service!r}")
