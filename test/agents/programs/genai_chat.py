"""Google's SDK and its chats, streamed: every piece of an answer becomes a turn of its own in the history."""

import sys

from google import genai
from google.genai import types
from google.oauth2.credentials import Credentials

from session import ADDRESS, DECLARED, KEY, MODEL, PROMPT, STEPS, run

if sys.argv[1:] == ["vertex"]:
    credentials = Credentials(token=KEY)
    options = types.HttpOptions(base_url=ADDRESS, api_version="v1")
    client = genai.Client(
        vertexai=True, project="any", location="global", credentials=credentials, http_options=options
    )
else:
    client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=ADDRESS))
declarations = [
    types.FunctionDeclaration(
        name=tool["name"], description=tool["description"], parameters_json_schema=tool["parameters"]
    )
    for tool in DECLARED
]
config = types.GenerateContentConfig(
    tools=[types.Tool(function_declarations=declarations)],
    thinking_config=types.ThinkingConfig(include_thoughts=True),
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
)
chat = client.chats.create(model=MODEL, config=config)
message = PROMPT

for _ in range(STEPS):
    calls, text = [], ""
    for chunk in chat.send_message_stream(message):
        calls += chunk.function_calls or []
        text += chunk.text or ""
    if not calls:
        print(text)
        break
    message = [
        types.Part(
            function_response=types.FunctionResponse(
                id=call.id, name=call.name, response={"output": run(call.name, call.args)}
            )
        )
        for call in calls
    ]
