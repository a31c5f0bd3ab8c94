"""OpenAI's SDK, chat completions, streamed: a history of plain messages."""

from openai import OpenAI

from session import ADDRESS, DECLARED, KEY, MODEL, PROMPT, STEPS, run

client = OpenAI(base_url=f"{ADDRESS}/v1", api_key=KEY)
tools = [{"type": "function", "function": tool} for tool in DECLARED]
messages = [{"role": "system", "content": "You work with files."}, {"role": "user", "content": PROMPT}]


def called(call):
    """A call as it goes back, without what the helper for streams made of it."""
    function = {"name": call.function.name, "arguments": call.function.arguments}
    return {"id": call.id, "type": "function", "function": function}


for _ in range(STEPS):
    with client.chat.completions.stream(model=MODEL, messages=messages, tools=tools) as stream:
        for _event in stream:
            pass
        message = stream.get_final_completion().choices[0].message
    messages.append(
        {"role": "assistant", "content": message.content}
        | ({"tool_calls": [called(call) for call in message.tool_calls]} if message.tool_calls else {})
    )
    if not message.tool_calls:
        print(message.content)
        break
    for call in message.tool_calls:
        output = run(call.function.name, call.function.arguments)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": output})
