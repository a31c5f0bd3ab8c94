"""Cohere's SDK, chat of version 2: streamed, or whole if the first argument says so."""

import sys

from cohere import ClientV2

from session import ADDRESS, DECLARED, KEY, MODEL, PROMPT, STEPS, run

client = ClientV2(api_key=KEY, base_url=ADDRESS)
tools = [{"type": "function", "function": tool} for tool in DECLARED]
messages = [{"role": "system", "content": "You work with files."}, {"role": "user", "content": PROMPT}]


def whole():
    """One answer: blocks of content, the plan, and calls."""
    answer = client.chat(model=MODEL, messages=messages, tools=tools)
    message = answer.message
    return (
        [block.model_dump(exclude_none=True) for block in message.content or []],
        message.tool_plan or "",
        [{"id": call.id, "name": call.function.name, "arguments": call.function.arguments} for call in message.tool_calls or []],
    )


def streamed():
    """The same, put together from events."""
    blocks, calls, plan, finish = {}, {}, "", None
    for event in client.chat_stream(model=MODEL, messages=messages, tools=tools):
        if event.type == "content-start":
            blocks[event.index] = {"type": event.delta.message.content.type, "said": ""}
        elif event.type == "content-delta":
            content = event.delta.message.content
            blocks[event.index]["said"] += content.text or content.thinking or ""
        elif event.type == "tool-plan-delta":
            plan += event.delta.message.tool_plan
        elif event.type == "tool-call-start":
            call = event.delta.message.tool_calls
            calls[event.index] = {"id": call.id, "name": call.function.name, "arguments": ""}
        elif event.type == "tool-call-delta":
            calls[event.index]["arguments"] += event.delta.message.tool_calls.function.arguments
        elif event.type == "message-end":
            finish = event.delta.finish_reason
            if finish == "ERROR":
                raise RuntimeError(event.delta.error)
    if finish is None:
        raise RuntimeError("the stream ended without its last event")
    content = [{"type": block["type"], block["type"]: block["said"]} for block in blocks.values()]
    return content, plan, list(calls.values())


for _ in range(STEPS):
    content, plan, calls = whole() if "whole" in sys.argv else streamed()
    turn = {"role": "assistant"}
    if content:
        turn["content"] = content
    if plan:
        turn["tool_plan"] = plan
    if calls:
        turn["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"]},
            }
            for call in calls
        ]
    messages.append(turn)
    if not calls:
        print("".join(block.get("text", "") for block in content))
        break
    for call in calls:
        output = run(call["name"], call["arguments"])
        messages.append(
            {
                "role": "tool",
                "tool_call_id": call["id"],
                "content": [{"type": "document", "document": {"data": {"output": output}}}],
            }
        )
