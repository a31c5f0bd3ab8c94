"""OpenAI's SDK, responses, streamed and without memory: what came out goes in again."""

from openai import OpenAI

from session import ADDRESS, DECLARED, KEY, MODEL, PROMPT, STEPS, run

client = OpenAI(base_url=f"{ADDRESS}/v1", api_key=KEY)
tools = [{"type": "function", "strict": True, **tool} for tool in DECLARED]
items = [{"role": "user", "content": PROMPT}]
settings = {
    "reasoning": {"effort": "medium", "summary": "auto"},
    "include": ["reasoning.encrypted_content"],
    "store": False,
}

for _ in range(STEPS):
    with client.responses.stream(model=MODEL, input=items, tools=tools, **settings) as stream:
        for _event in stream:
            pass
        response = stream.get_final_response()
    # As it came, without what the helper for streams made of it.
    items += [{k: v for k, v in item.to_dict().items() if k != "parsed_arguments"} for item in response.output]
    calls = [item for item in response.output if item.type == "function_call"]
    if not calls:
        print(response.output_text)
        break
    for call in calls:
        output = run(call.name, call.arguments)
        items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
