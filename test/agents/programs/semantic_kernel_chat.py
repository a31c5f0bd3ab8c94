"""Semantic Kernel, whose connectors keep the history and call functions themselves."""

import asyncio
import os
import sys

from semantic_kernel import Kernel
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
from semantic_kernel.contents import ChatHistory
from semantic_kernel.functions import kernel_function

import session
from session import ADDRESS, KEY, MODEL, PROMPT


def connector(format, key):
    if format == "messages":
        from anthropic import AsyncAnthropic
        from semantic_kernel.connectors.ai.anthropic import AnthropicChatCompletion

        client = AsyncAnthropic(base_url=ADDRESS, api_key=key, max_retries=0)
        return AnthropicChatCompletion(ai_model_id=MODEL, api_key=key, async_client=client), {"max_tokens": 8000}
    if format == "contents":
        from google import genai
        from semantic_kernel.connectors.ai.google.google_ai import GoogleAIChatCompletion

        client = genai.Client(api_key=key, http_options=genai.types.HttpOptions(base_url=ADDRESS))
        return GoogleAIChatCompletion(gemini_model_id=MODEL, api_key=key, client=client), {}
    from openai import AsyncOpenAI
    from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion

    client = AsyncOpenAI(base_url=f"{ADDRESS}/v1", api_key=key, max_retries=0)
    return OpenAIChatCompletion(ai_model_id=MODEL, async_client=client), {}


def history():
    made = ChatHistory()
    made.add_user_message(PROMPT)
    return made


async def whole(key):
    service, usual = connector(sys.argv[1], key)
    made = service.get_prompt_execution_settings_class()(**usual)
    return str(await service.get_chat_message_content(history(), made))


async def streamed(key):
    service, usual = connector(sys.argv[1], key)
    made = service.get_prompt_execution_settings_class()(**usual)
    return "".join([str(chunk) async for chunk in service.get_streaming_chat_message_content(history(), made)])


async def talk():
    """A streamed session; its functions have the names of the plugin and their own."""
    kernel = Kernel()
    functions = [kernel_function(tool) for tool in (session.read_file, session.write_file)]
    kernel.add_functions("files", functions)
    service, usual = connector(sys.argv[1], KEY)
    made = service.get_prompt_execution_settings_class()(**usual)
    made.function_choice_behavior = FunctionChoiceBehavior.Auto()
    chunks = service.get_streaming_chat_message_content(history(), made, kernel=kernel)
    return "".join([str(chunk) async for chunk in chunks])


def status(thrown):
    """The HTTP status of the SDK's error below, or the one it wraps."""
    while thrown is not None:
        found = getattr(thrown, "status_code", None) or getattr(thrown, "code", None)
        if isinstance(found, int):
            return found
        thrown = thrown.__cause__ or thrown.__context__
    return 0


async def main():
    scenario = os.environ["IL_SCENARIO"]
    if scenario == "plain":
        print("whole:", await whole(KEY))
        print("streamed:", await streamed(KEY))
    elif scenario == "errors":
        for name, key in (("key", f"{KEY}-wrong"), ("rate", KEY)):
            try:
                print(f"{name}: answered {await whole(key)}")
            except Exception as thrown:
                print(f"{name}: {status(thrown)}")
    else:
        print(await talk())


asyncio.run(main())
