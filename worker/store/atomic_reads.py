"""Read several values at one moment.

A transaction would do that too, but a Redis server whose memory is full refuses every command of a
transaction, even those that only read. It runs scripts that only read.
"""

from __future__ import annotations

from typing import Any

import redis
from redis.client import Pipeline

_SCRIPT = """\
local answers, at = {}, 1
while at <= #ARGV do
    local size = tonumber(ARGV[at])
    table.insert(answers, redis.call(unpack(ARGV, at + 1, at + size)))
    at = at + size + 1
end
return answers
"""


class AtomicReads(Pipeline):
    """A pipeline of commands that only read. One script runs all of them, so no change comes in between."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(
            client.connection_pool, client.response_callbacks, transaction=False, shard_hint=None
        )
        self._script = client.register_script(_SCRIPT)

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        commands, self.command_stack = self.command_stack, []
        words = (word for command, _ in commands for word in (len(command), *command))
        answers = self._script(args=list(words))
        return [self._parse(answer, *command) for answer, command in zip(answers, commands, strict=True)]

    def _parse(self, answer: Any, words: tuple[Any, ...], options: dict[str, Any]) -> Any:
        options = {name: value for name, value in options.items() if name != "keys"}  # for redis-py's cache
        parsers: Any = self.response_callbacks
        return parsers[words[0]](answer, **options) if words[0] in parsers else answer
