"""The official Python client behind the proxy, against a server that answers in every wrong way.

Reads {"command": [...], "answers": [...], "limit": BYTES} from stdin, calls the tool once for each answer, and prints the
largest result or error that a caller of the client would put before a model, and how many calls ended in each.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def call(session, raw, seconds):
    """Returns how a call ended, and what the client would hand on."""
    try:
        result = await session.call_tool("plain", {"raw": raw}, read_timeout_seconds=seconds)
        return "result", result.model_dump_json(by_alias=True, exclude_none=True)
    except Exception as error:  # Whatever a client throws, an agent shows.
        return "error", str(error)


async def main():
    given = json.load(sys.stdin)
    command, *args = given["command"]
    ends = {"result": 0, "error": 0}
    over = []
    largest = 0
    async with stdio_client(StdioServerParameters(command=command, args=args)) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            await session.list_tools()
            for at, raw in enumerate(given["answers"]):
                end, text = await call(session, raw, given["seconds"])
                ends[end] += 1
                size = len(text.encode("utf-8", "surrogatepass"))
                largest = max(largest, size)
                if size > given["limit"]:
                    over.append({"at": at, "end": end, "bytes": size, "raw": raw[:300]})
    print(json.dumps({"ends": ends, "largest": largest, "over": over}))


try:
    asyncio.run(main())
except* Exception as group:
    print(json.dumps({"failed": [repr(error) for error in group.exceptions]}))
