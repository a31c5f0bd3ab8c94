"""Anthropic's SDK and its tool runner, streamed, which keeps the history itself."""

from anthropic import Anthropic, beta_tool

import session

client = Anthropic(base_url=session.ADDRESS, api_key=session.KEY)
runner = client.beta.messages.tool_runner(
    model=session.MODEL,
    max_tokens=8000,
    thinking=session.THINKING,
    tools=[beta_tool(session.read_file), beta_tool(session.write_file)],
    messages=[{"role": "user", "content": session.PROMPT}],
    stream=True,
)
for stream in runner:
    message = stream.get_final_message()
print("".join(block.text for block in message.content if block.type == "text"))
