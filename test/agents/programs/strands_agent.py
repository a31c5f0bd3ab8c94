"""Strands, streamed: its own loop over its own history."""

import os

import session
from session import ADDRESS, KEY, MODEL, PROMPT, THINKING

# Without TLS, it sends no bearer token.
os.environ |= {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": "unused"}

from strands import Agent, tool
from strands.models import BedrockModel

model = BedrockModel(
    model_id=MODEL,
    region_name="us-east-1",
    endpoint_url=ADDRESS,
    max_tokens=8000,
    additional_request_fields={"thinking": THINKING},
)
agent = Agent(model=model, tools=[tool(session.read_file), tool(session.write_file)], callback_handler=None)
print(agent(PROMPT))
