"""A sample comes in, an agent is driven, and events go out: one module a kind of agent."""
