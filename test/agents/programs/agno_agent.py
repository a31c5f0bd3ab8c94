"""Agno, streamed: its agent keeps the history and calls the functions itself."""

import sys

from agno.agent import Agent

import session
from session import ADDRESS, KEY, MODEL, PROMPT, THINKING


def model(format):
    if format == "messages":
        from agno.models.anthropic import Claude

        return Claude(
            id=MODEL, api_key=KEY, max_tokens=8000, thinking=THINKING, client_params={"base_url": ADDRESS}
        )
    if format == "contents":
        from agno.models.google import Gemini

        options = {"http_options": {"base_url": ADDRESS}}
        return Gemini(id=MODEL, api_key=KEY, include_thoughts=True, client_params=options)
    if format == "responses":
        from agno.models.openai import OpenAIResponses

        return OpenAIResponses(id=MODEL, api_key=KEY, base_url=f"{ADDRESS}/v1", reasoning_effort="medium")
    if format == "chat":
        from agno.models.openai import OpenAIChat

        return OpenAIChat(id=MODEL, api_key=KEY, base_url=f"{ADDRESS}/v1")
    from agno.models.openai.like import OpenAILike

    return OpenAILike(id=MODEL, api_key=KEY, base_url=f"{ADDRESS}/v1")


agent = Agent(
    model=model(sys.argv[1]),
    tools=[session.read_file, session.write_file],
    instructions="You work with files.",
    telemetry=False,
)
text = ""
for event in agent.run(PROMPT, stream=True):
    text += getattr(event, "content", None) or "" if event.event == "RunContent" else ""
print(text)
