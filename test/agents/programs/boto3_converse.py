"""AWS's SDK, ConverseStream: a history of blocks, which the caller adds up from events. Its requests are signed."""

import json
import os

from session import ADDRESS, DECLARED, KEY, MODEL, PROMPT, STEPS, THINKING, run

# Without TLS, it sends no bearer token.
os.environ |= {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": "unused"}

import boto3

client = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=ADDRESS)
tools = [
    {
        "toolSpec": {
            "name": tool["name"],
            "description": tool["description"],
            "inputSchema": {"json": tool["parameters"]},
        }
    }
    for tool in DECLARED
]


def grow(block, delta):
    """Adds a delta to a block."""
    if "text" in delta:
        block["text"] = block.get("text", "") + delta["text"]
    elif "toolUse" in delta:
        block["toolUse"]["input"] += delta["toolUse"]["input"]
    elif "redactedContent" in delta.get("reasoningContent", {}):
        block["reasoningContent"] = delta["reasoningContent"]
    elif "reasoningContent" in delta:
        said = block.setdefault("reasoningContent", {"reasoningText": {"text": ""}})["reasoningText"]
        for field, value in delta["reasoningContent"].items():
            said[field] = said.get(field, "") + value


def answer(messages):
    """One streamed answer, and why it ended."""
    blocks, reason = {}, None
    sent = client.converse_stream(
        modelId=MODEL,
        system=[{"text": "You work with files."}],
        messages=messages,
        toolConfig={"tools": tools},
        inferenceConfig={"maxTokens": 8000},
        additionalModelRequestFields={"thinking": THINKING},
    )
    for event in sent["stream"]:
        if "contentBlockStart" in event:
            start = event["contentBlockStart"]
            blocks[start["contentBlockIndex"]] = {"toolUse": start["start"]["toolUse"] | {"input": ""}}
        elif "contentBlockDelta" in event:
            one = event["contentBlockDelta"]
            grow(blocks.setdefault(one["contentBlockIndex"], {}), one["delta"])
        elif "messageStop" in event:
            reason = event["messageStop"]["stopReason"]
        elif "metadata" in event:
            assert event["metadata"]["usage"]["totalTokens"] > 0
    content = [blocks[index] for index in sorted(blocks)]
    for block in content:
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"] or "{}")
    return content, reason


messages = [{"role": "user", "content": [{"text": PROMPT}]}]
for _ in range(STEPS):
    content, reason = answer(messages)
    messages.append({"role": "assistant", "content": content})
    if reason != "tool_use":
        print("".join(block.get("text", "") for block in content))
        break
    calls = [block["toolUse"] for block in content if "toolUse" in block]
    results = [
        {"toolResult": {"toolUseId": call["toolUseId"], "content": [{"text": run(call["name"], call["input"])}]}}
        for call in calls
    ]
    messages.append({"role": "user", "content": results})
