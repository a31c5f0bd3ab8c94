"""LangChain, streamed: pieces are added up, and go back as they are added up."""

import sys

from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool

import session
from session import ADDRESS, KEY, MODEL, PROMPT, STEPS, THINKING


def model(format):
    if format == "messages":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(model=MODEL, base_url=ADDRESS, api_key=KEY, max_tokens=8000, thinking=THINKING)
    if format == "contents":
        from langchain_google_genai import ChatGoogleGenerativeAI

        return ChatGoogleGenerativeAI(model=MODEL, base_url=ADDRESS, google_api_key=KEY, include_thoughts=True)
    if format == "converse":
        from langchain_aws import ChatBedrockConverse

        return ChatBedrockConverse(
            model=MODEL,
            provider="anthropic",
            region_name="us-east-1",
            base_url=ADDRESS,
            aws_access_key_id=KEY,
            aws_secret_access_key="unused",
            max_tokens=8000,
            additional_model_request_fields={"thinking": THINKING},
        )
    from langchain_openai import ChatOpenAI

    if format == "chat":
        return ChatOpenAI(model=MODEL, base_url=f"{ADDRESS}/v1", api_key=KEY)
    return ChatOpenAI(
        model=MODEL,
        base_url=f"{ADDRESS}/v1",
        api_key=KEY,
        use_responses_api=True,
        reasoning={"effort": "medium", "summary": "auto"},
        include=["reasoning.encrypted_content"],
        store=False,
    )


tools = {one.name: one for one in (tool(session.read_file), tool(session.write_file))}
bound = model(sys.argv[1]).bind_tools(list(tools.values()))
messages = [SystemMessage("You work with files."), HumanMessage(PROMPT)]

for _ in range(STEPS):
    whole = None
    for chunk in bound.stream(messages):
        whole = chunk if whole is None else whole + chunk
    messages.append(whole)
    if not whole.tool_calls:
        print(whole.text if isinstance(whole.text, str) else whole.text())
        break
    for call in whole.tool_calls:
        messages.append(ToolMessage(tools[call["name"]].invoke(call["args"]), tool_call_id=call["id"]))
