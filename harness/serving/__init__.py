"""A script comes in, an OpenAI-compatible model server on loopback goes out.

`script` reads a script and `script_records` says what one is; `model_requests` reads what a client
asks; `rules` finds the rule that answers; `reply_bodies` gives the answer the shape of the API;
`model_server` serves it.
"""
