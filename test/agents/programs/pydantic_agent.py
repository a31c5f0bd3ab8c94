"""pydantic-ai, streamed: its own loop over its own history."""

import asyncio
import sys

from pydantic_ai import Agent

import session
from session import ADDRESS, KEY, MODEL, PROMPT, THINKING


def model(format):
    if format == "messages":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        settings = {"anthropic_thinking": THINKING, "max_tokens": 8000}
        return AnthropicModel(MODEL, provider=AnthropicProvider(api_key=KEY, base_url=ADDRESS)), settings
    if format == "contents":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        settings = {"google_thinking_config": {"include_thoughts": True}}
        return GoogleModel(MODEL, provider=GoogleProvider(api_key=KEY, base_url=ADDRESS)), settings
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=f"{ADDRESS}/v1", api_key=KEY)
    if format == "chat":
        return OpenAIChatModel(MODEL, provider=provider), {}
    settings = {
        "openai_reasoning_effort": "medium",
        "openai_reasoning_summary": "auto",
        "extra_body": {"include": ["reasoning.encrypted_content"], "store": False},
    }
    return OpenAIResponsesModel(MODEL, provider=provider), settings


async def main():
    chosen, settings = model(sys.argv[1])
    agent = Agent(chosen, tools=[session.read_file, session.write_file], model_settings=settings)
    async with agent.run_stream(PROMPT) as result:
        print(await result.get_output())


asyncio.run(main())
