"""Mistral's SDK, streamed: each call comes whole, and goes back as it came."""

from mistralai.client import Mistral

from session import ADDRESS, DECLARED, KEY, MODEL, PROMPT, STEPS, run

client = Mistral(api_key=KEY, server_url=ADDRESS)
tools = [{"type": "function", "function": one} for one in DECLARED]
messages = [{"role": "system", "content": "You work with files."}, {"role": "user", "content": PROMPT}]

for _ in range(STEPS):
    text, calls = "", []
    for event in client.chat.stream(model=MODEL, messages=messages, tools=tools):
        for choice in event.data.choices:
            text += choice.delta.content if isinstance(choice.delta.content, str) else ""
            calls += choice.delta.tool_calls or []
    if not calls:
        print(text)
        break
    asked = [{"id": one.id, "type": "function", "function": one.function.model_dump()} for one in calls]
    messages.append({"role": "assistant", "content": text, "tool_calls": asked})
    for one in calls:
        output = run(one.function.name, one.function.arguments)
        messages.append({"role": "tool", "tool_call_id": one.id, "name": one.function.name, "content": output})
