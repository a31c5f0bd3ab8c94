"""LiteLLM's SDK: chat completions in front of whatever format its model's name begins with."""

import sys

import litellm

from session import ADDRESS, DECLARED, KEY, MODEL, PROMPT, STEPS, run

PREFIXES = {"chat": ("openai", "/v1"), "messages": ("anthropic", ""), "contents": ("gemini", "/v1beta")}
prefix, version = PREFIXES[sys.argv[1]]
tools = [{"type": "function", "function": tool} for tool in DECLARED]
messages = [{"role": "user", "content": PROMPT}]

for _ in range(STEPS):
    chunks = list(
        litellm.completion(
            model=f"{prefix}/{MODEL}",
            api_base=ADDRESS + version,
            api_key=KEY,
            messages=messages,
            tools=tools,
            stream=True,
        )
    )
    message = litellm.stream_chunk_builder(chunks, messages=messages).choices[0].message
    messages.append(message.model_dump())
    if not message.tool_calls:
        print(message.content)
        break
    for call in message.tool_calls:
        output = run(call.function.name, call.function.arguments)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": output})
